"""Parses C and C++ types and signatures, and models the C and C++ standard libraries.

`STANDARD` lists what the C libraries (ISO C, POSIX, glibc) define, which a view may lack.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from codelens.resolve.inference.type_text import bracketed
from codelens.resolve.inference.values import Container, Value

STANDARD = frozenset(
    """
    CMSG_DATA FD_CLR FD_ISSET FD_SET FD_ZERO S_ISBLK S_ISCHR S_ISDIR S_ISFIFO S_ISLNK S_ISREG
    S_ISSOCK WCOREDUMP WEXITSTATUS WIFEXITED WIFSIGNALED WIFSTOPPED WSTOPSIG WTERMSIG a64l abort
    abs accept accept4 access acct acos acosh alarm aligned_alloc alloca alphasort asctime
    asctime_r asin asinh asprintf assert at_quick_exit atan atan2 atanh atexit atof atoi atol
    atoll basename bcmp bcopy bind brk bsearch btowc bzero c16rtomb c32rtomb c8rtomb calloc
    catclose catgets catopen cbrt ceil cfgetispeed cfgetospeed cfmakeraw cfsetispeed cfsetospeed
    cfsetspeed chdir chmod chown chroot clearenv clearerr clock clock_adjtime clock_getcpuclockid
    clock_getres clock_gettime clock_nanosleep clock_settime clone close close_range closedir
    closefrom closelog confstr connect copy_file_range copysign cos cosh creat crypt ctermid ctime
    ctime_r cuserid daemon difftime dirfd dirname div dladdr dladdr1 dlclose dlerror dlinfo
    dlmopen dlopen dlsym dlvsym dprintf drem dup dup2 dup3 duplocale dysize endgrent endhostent
    endpwent endservent endusershell erf erfc errno execl execle execlp execv execve execveat
    execvp execvpe exit exp exp10 exp2 explicit_bzero expm1 fabs faccessat fallocate fchdir fchmod
    fchmodat fchown fchownat fclose fcloseall fcntl fdatasync fdim fdopen fdopendir feof ferror
    fexecve fflush ffs ffsl ffsll fgetc fgetgrent fgetgrent_r fgetpos fgetpwent fgetpwent_r fgets
    fgetwc fgetws fileno finite flockfile floor fma fmemopen fmod fnmatch fopen fopencookie fork
    fpathconf fpclassify fprintf fputc fputs fputwc fputws fread free freeaddrinfo freelocale
    freopen frexp fscanf fseek fseeko fsetpos fstat fstatat fsync ftell ftello ftruncate
    ftrylockfile funlockfile futimens futimes futimesat fwide fwprintf fwrite fwscanf gamma
    get_current_dir_name getaddrinfo getaddrinfo_a getc getchar getcpu getcwd getdelim
    getdirentries getdomainname getdtablesize getegid getentropy getenv geteuid getgid getgrent
    getgrent_r getgrgid getgrgid_r getgrnam getgrnam_r getgrouplist getgroups gethostbyaddr
    gethostbyaddr_r gethostbyname gethostbyname2 gethostbyname2_r gethostbyname_r gethostent
    gethostent_r gethostid gethostname getipv4sourcefilter getitimer getline getloadavg getlogin
    getlogin_r getnameinfo getnetbyaddr getnetbyaddr_r getnetbyname getnetbyname_r getopt
    getopt_long getopt_long_only getpagesize getpass getpeername getpgid getpgrp getpid getppid
    getpriority getprotobyname getprotobyname_r getprotobynumber getprotobynumber_r getpt getpw
    getpwent getpwent_r getpwnam getpwnam_r getpwuid getpwuid_r getresgid getresuid getrlimit
    getrpcbyname getrpcbyname_r getrpcbynumber getrpcbynumber_r getrusage getservbyname
    getservbyname_r getservbyport getservbyport_r getservent getservent_r getsid getsockname
    getsockopt getsourcefilter getsubopt gettid gettimeofday getuid getumask getusershell getw
    getwc getwchar getwd glob glob_pattern_p globfree gmtime gmtime_r grantpt group_member gsignal
    herror hstrerror htonl htons hypot iconv iconv_close iconv_open ilogb imaxabs imaxdiv index
    inet_addr inet_aton inet_lnaof inet_makeaddr inet_net_ntop inet_net_pton inet_neta inet_netof
    inet_network inet_nsap_addr inet_nsap_ntoa inet_ntoa inet_ntop inet_pton initgroups initstate
    initstate_r innetgr ioctl iruserok iruserok_af isalnum isalpha isascii isatty isblank iscntrl
    isctype isdigit isfdtype isfinite isgraph isinf islower isnan isprint ispunct isspace isupper
    iswalnum iswalpha iswblank iswcntrl iswctype iswdigit iswgraph iswlower iswprint iswpunct
    iswspace iswupper iswxdigit isxdigit kill killpg l64a labs lchmod lchown ldexp ldiv lgamma
    lgamma_r lgammaf128_r lgammaf32_r lgammaf32x_r lgammaf64_r lgammaf64x_r lgammaf_r lgammal_r
    link linkat listen llabs lldiv llrint llround localeconv localtime localtime_r lockf log log10
    log1p log2 logb longjmp lrint lround lseek lstat lutimes madvise malloc mblen mbrlen mbrtoc16
    mbrtoc32 mbrtoc8 mbrtowc mbsinit mbsnrtowcs mbsrtowcs mbstowcs mbtowc memccpy memchr memcmp
    memcpy memfd_create memfrob memmem memmove mempcpy memrchr memset mincore mkdir mkdirat
    mkdtemp mkfifo mkfifoat mknod mknodat mkostemp mkostemps mkstemp mkstemps mktemp mktime mlock
    mlock2 mlockall mmap modf mprotect mremap msync munlock munlockall munmap nan nanosleep
    nearbyint newlocale nextafter nexttoward nice nl_langinfo ntohl ntohs offsetof on_exit open
    open_memstream open_wmemstream openat opendir openlog pathconf pause pclose perror pipe pipe2
    poll popen posix_fadvise posix_fallocate posix_madvise posix_memalign posix_openpt pow ppoll
    pread preadv preadv64v2 printf prlimit profil pthread_atfork pthread_cancel
    pthread_cond_broadcast pthread_cond_clockwait pthread_cond_destroy pthread_cond_init
    pthread_cond_signal pthread_cond_timedwait pthread_cond_wait pthread_create pthread_detach
    pthread_equal pthread_exit pthread_getconcurrency pthread_getcpuclockid pthread_getschedparam
    pthread_getspecific pthread_join pthread_key_create pthread_key_delete pthread_kill
    pthread_mutex_clocklock pthread_mutex_consistent pthread_mutex_destroy
    pthread_mutex_getprioceiling pthread_mutex_init pthread_mutex_lock
    pthread_mutex_setprioceiling pthread_mutex_timedlock pthread_mutex_trylock
    pthread_mutex_unlock pthread_once pthread_self pthread_setcancelstate pthread_setcanceltype
    pthread_setconcurrency pthread_setschedparam pthread_setschedprio pthread_setspecific
    pthread_sigmask pthread_sigqueue pthread_testcancel pthread_yield ptsname ptsname_r putc
    putchar putenv putgrent putpwent puts putw putwc putwchar pwrite pwritev pwritev64v2 qsort
    qsort_r quick_exit raise rand rand_r random random_r rawmemchr read readahead readdir
    readdir64_r readdir_r readlink readlinkat readv realloc reallocarray realpath recv recvfrom
    recvmmsg recvmsg regcomp regerror regexec regfree remainder remap_file_pages remove remquo
    rename renameat renameat2 revoke rewind rewinddir rindex rint rmdir round rpmatch sbrk scalb
    scalbln scalbn scandir scandirat scanf sched_yield secure_getenv seekdir select sem_destroy
    sem_init sem_post sem_wait send sendmmsg sendmsg sendto setbuf setbuffer setdomainname setegid
    setenv seteuid setgid setgrent setgroups sethostent sethostid sethostname setipv4sourcefilter
    setitimer setjmp setlinebuf setlocale setlogin setlogmask setpgid setpgrp setpriority setpwent
    setregid setresgid setresuid setreuid setrlimit setservent setsid setsockopt setsourcefilter
    setstate setstate_r settimeofday setuid setusershell setvbuf shm_open shm_unlink shutdown
    sigaction sigaddset sigaltstack sigandset sigblock sigdelset sigemptyset sigfillset siggetmask
    siginterrupt sigisemptyset sigismember siglongjmp signal signbit significand sigorset
    sigpending sigprocmask sigqueue sigreturn sigsetjmp sigsetmask sigsuspend sigtimedwait sigwait
    sigwaitinfo sin sincos sinh sleep snprintf sockatmark socket socketpair sprintf sqrt srand
    srandom srandom_r sscanf ssignal stat statvfs statx stpcpy stpncpy strcasecmp strcasestr
    strcat strchr strchrnul strcmp strcoll strcpy strcspn strdup strerror strerror_r strftime
    strlcat strlcpy strlen strncasecmp strncat strncmp strncpy strndup strnlen strpbrk strptime
    strrchr strsep strsignal strspn strstr strtod strtof strtoimax strtok strtok_r strtol strtold
    strtoll strtoq strtoul strtoull strtoumax strtouq strverscmp strxfrm swprintf swscanf symlink
    symlinkat sync syncfs syscall sysconf syslog system sysv_signal tan tanh tcdrain tcflow
    tcflush tcgetattr tcgetpgrp tcgetsid tcsendbreak tcsetattr tcsetpgrp telldir tempnam tgamma
    tgkill time timegm timelocal timespec_get timespec_getres tmpfile tmpnam tmpnam_r toascii
    tolower toupper towctrans towlower towupper trunc truncate ttyname ttyname_r ttyslot tzset
    umask uname ungetc ungetwc unlink unlinkat unlockpt unsetenv uselocale usleep utime utimensat
    utimes va_arg va_copy va_end va_start valloc vasprintf vdprintf versionsort vfork vfprintf
    vfscanf vfwprintf vfwscanf vhangup vprintf vscanf vsnprintf vsprintf vsscanf vswprintf
    vswscanf vsyslog vwprintf vwscanf wait wait3 wait4 waitid waitpid wcpcpy wcpncpy wcrtomb
    wcscasecmp wcscat wcschr wcschrnul wcscmp wcscoll wcscpy wcscspn wcsdup wcsftime wcslen
    wcsncasecmp wcsncat wcsncmp wcsncpy wcsnlen wcsnrtombs wcspbrk wcsrchr wcsrtombs wcsspn wcsstr
    wcstod wcstof wcstoimax wcstok wcstol wcstold wcstoll wcstombs wcstoq wcstoul wcstoull
    wcstoumax wcstouq wcswcs wcswidth wcsxfrm wctob wctomb wctrans wctype wcwidth wmemchr wmemcmp
    wmemcpy wmemmove wmempcpy wmemset wprintf write writev wscanf
    """.split()
)
"""Functions, and function-like macros; only the common ones for mathematics and threads."""


# Types and signatures in C and C++ syntax.

_WORDS = re.compile(
    r"\b(?:const|volatile|struct|class|enum|union|typename|static|inline|mutable|constexpr"
    r"|extern|register|virtual|explicit|friend)\b\s*"
)
_HOLDING = re.compile(
    r"(?:::)?(?:std(?:::|\.))?(?:unique_ptr|shared_ptr|weak_ptr|optional|reference_wrapper|atomic)"
    r"\s*<(.+)>\s*$"
)
_ITERATOR = re.compile(r"^(.+>)(?:::|\.)(?:const_)?(?:reverse_)?(?:iterator|pointer|reference)$")
_TAGGED = re.compile(r"^\s*(?:const\s+|volatile\s+)*(?:struct|class|union|enum)\s+(\w+)[\s*&]*$")
_SIZES = frozenset(
    "unsigned signed long short int char float double void bool wchar_t auto".split()
)
_TEMPLATE = re.compile(r"^\s*template\s*<")
_PARAMETER = re.compile(r"(?:typename|class)\b(?:\s*\.\.\.)?\s*(\w+)")
_NAMED_LAST = re.compile(r"^(.*[\s*&>])(\w+)\s*((?:\[[^\]]*\])*)$", re.DOTALL)
_CONST = re.compile(r"\)\s*const\b[^()]*(?:\([^()]*\)[^()]*)*$")
OPERATOR = "operator"
_ALIASED = re.compile(r"^\s*namespace\s+(\w+)\s*=\s*(?:::)?\s*([\w:]+)")


@lru_cache(maxsize=20_000)
def c_type(text: str) -> str:
    """Translate a C or C++ type to the syntax that `codelens.resolve.inference.type_text` parses.

    Pointers, references and iterators become their target types.
    """
    text = _WORDS.sub("", text).strip().rstrip("*& ").strip()
    iterator = _ITERATOR.match(text)
    if iterator is not None:
        return f"iterator<{c_type(iterator[1])}>"
    pointer = _HOLDING.match(text)
    if pointer is not None:
        return c_type(pointer[1])
    return text.removeprefix("::").replace("::", ".").replace("*", "").replace("&", "")


@lru_cache(maxsize=20_000)
def tag(text: str) -> str:
    """Return the name after `struct` and similar keywords, which only refers to tagged types."""
    match = _TAGGED.match(text)
    return match[1] if match is not None else ""


class CParameter(NamedTuple):
    """A parameter of a function."""

    type: str
    many: bool
    """Whether it accepts any number of arguments."""


def _unspaced(signature: str, name: str) -> str:
    """Normalize `operator == (` in a signature to the operator's symbol name."""
    if not name.startswith(OPERATOR):
        return signature
    sign = name.removeprefix(OPERATOR)
    return re.sub(rf"\boperator\s*{re.escape(sign)}\s*\(", lambda _: f"{name}(", signature, count=1)


@lru_cache(maxsize=20_000)
def c_parameters(signature: str, name: str) -> tuple[CParameter, ...] | None:
    """Parse the parameters of a signature; None if it cannot be parsed."""
    signature = _unspaced(signature, name)
    at = signature.find(name + "(")
    if at < 0:
        return None
    parts = bracketed(signature, at + len(name))
    if parts is None:
        return None
    parameters = [_parameter(part) for part in parts]
    return tuple(
        parameter for parameter in parameters if parameter.type != "void" or parameter.many
    )


def _parameter(text: str) -> CParameter:
    text = text.partition("=")[0].strip()
    if "..." in text:
        return CParameter(text.replace("...", "").strip(), many=True)
    named = _NAMED_LAST.match(text)
    if named is not None and named[2] not in _SIZES and _WORDS.sub("", named[1]).strip(" *&"):
        text = named[1].strip() + ("*" if named[3] else "")
    return CParameter(" ".join(text.split()), many=False)


@lru_cache(maxsize=20_000)
def result_type(signature: str, name: str) -> str:
    """Return the type before the name in a declaration, or an empty string."""
    signature = _unspaced(signature, name)
    before = signature.partition(name + "(")[0] if name + "(" in signature else ""
    opened = _TEMPLATE.match(before)
    if opened is not None:
        depth, at = 1, opened.end()
        while at < len(before) and depth:
            depth += (before[at] == "<") - (before[at] == ">")
            at += 1
        before = before[at:]
    before = _WORDS.sub("", before).strip()
    return "" if not before or before[-1] in "~:," else before


def is_const(signature: str) -> bool:
    """Whether a method may be called on a `const` object."""
    return _CONST.search(signature) is not None


@lru_cache(maxsize=20_000)
def plain_parameter(text: str) -> str:
    """Normalize the type of a parameter, so that equivalent spellings are equal."""
    text = re.sub(r"\bconst\b", "", text) if "*" not in text and "&" not in text else text
    return re.sub(r"\s+|\b(?:struct|class|enum|union)\b|::|\w+::", "", text)


@lru_cache(maxsize=5_000)
def template_parameters(signature: str) -> tuple[str, ...]:
    """Return the type parameters of a template, by its signature."""
    opened = _TEMPLATE.match(signature)
    if opened is None:
        return ()
    parts = bracketed(signature, opened.end() - 1) or []
    matches = (_PARAMETER.match(part) for part in parts)
    return tuple(match[1] if match is not None else "" for match in matches)


def aliased_namespace(signature: str) -> tuple[str, str] | None:
    """Return the alias and the namespace of `namespace fs = std::filesystem`."""
    match = _ALIASED.match(signature)
    return (match[1], match[2].replace("::", ".")) if match is not None else None


# The C++ standard library: elements, pairs, iterators and smart pointers.
#
# A pointer, an iterator and an `optional` are represented by their target, because code uses them
# with the same operators.

LISTS = frozenset(
    "vector list deque array set multiset unordered_set unordered_multiset span initializer_list "
    "stack queue priority_queue forward_list valarray InlinedVector FixedArray Span "
    "flat_hash_set node_hash_set btree_set small_vector SmallVector ArrayRef QVector QList "
    "circular_buffer".split()
)
MAPS = frozenset(
    "map unordered_map multimap unordered_multimap flat_hash_map node_hash_map btree_map "
    "flat_map DenseMap StringMap QMap QHash hash_map".split()
)
HOLDING = frozenset(
    "unique_ptr shared_ptr weak_ptr optional reference_wrapper atomic scoped_refptr intrusive_ptr "
    "Nonnull Nullable StatusOr expected".split()
)
_ELEMENTS = frozenset(
    "front back at top begin end cbegin cend rbegin rend crbegin crend find lower_bound "
    "upper_bound data insert erase emplace emplace_back emplace_front value "
    "get".split()
)
_HELD_BY = frozenset({"get", "value", "lock", "value_or", "load", "release", "exchange"})
_PAIR = ("first", "second")


def name_of(value: Container) -> str:
    """Return the name of a type without its namespaces."""
    return value.name.rpartition(".")[2]


def element_of(value: Container, step: str) -> Value:
    """Return what `[]` or iteration (`[*]`) yields."""
    name = name_of(value)
    if not value.args:
        return None
    if name in MAPS:
        if step == "[]":
            return value.args[1] if len(value.args) > 1 else None
        return Container("pair", value.args[:2])
    return value.args[0] if name in LISTS else None


def result_of_method(value: Container, method: str) -> Value:
    """Return the result of a container method."""
    name = name_of(value)
    if not value.args:
        return None
    if name in MAPS:
        if method in {"at", "try_emplace", "insert_or_assign"}:
            return element_of(value, "[]") if method == "at" else None
        if method in {"insert", "emplace"}:
            return Container("pair", (element_of(value, "[*]"), None))
        return element_of(value, "[*]") if method in _ELEMENTS else None
    if name in LISTS:
        return value.args[0] if method in _ELEMENTS else None
    return None


def part_of(value: Container, name: str) -> Value:
    """Return a member of a pair."""
    if name_of(value) == "pair" and name in _PAIR and len(value.args) == len(_PAIR):
        return value.args[_PAIR.index(name)]
    return None


def returns_wrapped_value(method: str) -> bool:
    """Whether a method of a wrapper returns the wrapped value."""
    return method in _HELD_BY
