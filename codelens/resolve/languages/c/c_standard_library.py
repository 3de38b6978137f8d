"""What the standard libraries of C (ISO C, POSIX, glibc) define, and no view has to."""

from __future__ import annotations

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
"""Functions, and macros used like them; of those of mathematics and threads the common ones."""
