"""Resolves Ruby: required files, receivers and methods.

`CORE_METHODS` exist on values of Ruby itself, so a use of one on a receiver of unknown type
probably does not refer to the view. The list comes from `instance_methods` of the core classes of
Ruby 3.1, and of set, stringio, tempfile, pathname, date and logger.
"""

from __future__ import annotations

from collections.abc import Iterator

from codelens.resolve.file_model import CALLABLE, FileModel
from codelens.resolve.inference.annotations import Annotations
from codelens.resolve.inference.call_results import Calls
from codelens.resolve.inference.expression_values import Expressions
from codelens.resolve.inference.name_lookup import LOCAL, Names, Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import Definition, Instance, Literal, Value, each, together
from codelens.resolve.languages.registry import LanguageSpec, ModuleResolver
from codelens.resolve.languages.ruby_members import RubyMembers, RubyTakers
from codelens.resolve.path_tree import ancestors, below, encoded, folder_of, joined
from codelens.resolve.view_files import View
from codelens.types import PROTOCOL, SETTER, VARIABLE, Import, Reference

CORE_METHODS = frozenset(
    """
    abort abort_on_exception abort_on_exception= abs abs2 absolute? add add? add_trace_func
    advise ajd alias_method alive? all? allbits? allocate amjd ancestors angle any? anybits?
    append append_features arg arity ascend ascii_only? asctime assoc at at_exit atime attr
    attr_accessor attr_reader attr_writer autoclose= autoclose? autoload autoload? b backtrace
    backtrace_locations basename begin between? binding binmode binmode? binread binwrite
    birthtime bit_length block_given? blockdev? bsearch bsearch_index bytes bytesize byteslice
    call caller caller_locations capitalize capitalize! captures casecmp casecmp? casefold?
    catch cause ceil center chain chardev? chars children chmod chomp chomp! chop chop! chown
    chr chunk chunk_while clamp class class_eval class_exec class_variable_defined?
    class_variable_get class_variable_set class_variables classify cleanpath clear clone close
    close! close_on_exec= close_on_exec? close_read close_write closed? closed_read?
    closed_write? codepoints coerce collect collect! collect_concat combination compact
    compact! compare_by_identity compare_by_identity? concat conj conjugate const_defined?
    const_get const_missing const_set const_source_location constants count cover? crypt ctime
    curry cwday cweek cwyear cycle datetime_format datetime_format= day day_fraction debug
    debug! debug? deconstruct deconstruct_keys default default= default_proc default_proc=
    define_method define_singleton_method delete delete! delete? delete_at delete_if
    delete_prefix delete_prefix! delete_suffix delete_suffix! denominator deprecate_constant
    deq descend detect difference dig digits directory? dirname disjoint? display div divide
    divmod downcase downcase! downto drop drop_while dst? dump dup each each_byte each_char
    each_child each_codepoint each_cons each_entry each_filename each_grapheme_cluster
    each_index each_key each_line each_pair each_slice each_value each_with_index
    each_with_object eager empty? encode encode! encoding end end_with? england enq entries
    enum_for eof eof? eql? equal? error error! error? eval even? except exception exclude_end?
    exec executable? executable_real? exist? exit exit! expand_path extend extend_object
    extended external_encoding extname fail fatal fatal! fatal? fcntl fdatasync fdiv feed
    fetch fetch_values file? fileno fill filter filter! filter_map find find_all find_index
    finite? first fixed_encoding? flat_map flatten flatten! flatten_merge flock floor flush
    fnmatch fnmatch? force force_encoding fork format formatter formatter= freeze friday?
    frozen? fsync ftype full_message gcd gcdlcm gem gem_original_require getbyte getc getgm
    getlocal gets getutc glob global_variables gmt? gmt_offset gmtime gmtoff grapheme_clusters
    gregorian gregorian? grep grep_v group group_by grpowned? gsub gsub! has_key? has_value?
    hash hex hour httpdate i id2name imag imaginary include include? included included_modules
    index infinite? info info! info? inherited initialize initialize_clone initialize_copy
    initialize_dup inject insert inspect instance_eval instance_exec instance_method
    instance_methods instance_of? instance_variable_defined? instance_variable_get
    instance_variable_set instance_variables integer? intern internal_encoding intersect?
    intersection invert ioctl is_a? isatty isdst iso8601 italy iterator? itself jd jisx0301
    join julian julian? keep_if key key? keys kill kind_of? lambda lambda? last lazy lchmod
    lchown lcm ld leap? length level level= lineno lineno= lines ljust load local_variables
    localtime lock locked? log loop lstat lstrip lstrip! magnitude make_link make_symlink map
    map! marshal_dump marshal_load match match? match_length max max_by mday member? members
    merge merge! message method method_added method_defined? method_missing method_removed
    method_undefined methods min min_by minmax minmax_by minute mjd mkdir mkpath module_eval
    module_exec module_function modulo mon monday? month mountpoint? mtime name name=
    named_captures names nan? native_thread_id negative? new new_offset new_start next next!
    next_day next_float next_month next_values next_year nil? nobits? none? nonzero? nsec
    num_waiting numerator object_id oct odd? offset one? open opendir options ord
    original_name owned? owner p pack parameters parent partition path pathconf peek
    peek_values pending_interrupt? permutation phase pid pipe? polar pop pos pos= positive?
    post_match pow pp pre_match pread pred prepend prepend_features prepended pretty_print
    pretty_print_cycle prev_day prev_float prev_month prev_year print printf priority
    priority= private private? private_class_method private_constant private_instance_methods
    private_method_defined? private_methods proc product progname progname= proper_subset?
    proper_superset? protected protected? protected_instance_methods protected_method_defined?
    protected_methods public public? public_class_method public_constant
    public_instance_method public_instance_methods public_method public_method_defined?
    public_methods public_send push putc puts pwrite quo raise rand rassoc rationalize read
    read_nonblock readable? readable_real? readbyte readchar readline readlines readlink
    readpartial real real? realdirpath realpath receiver rect rectangular reduce refine regexp
    rehash reject reject! relative? relative_path_from remainder remove_class_variable
    remove_const remove_instance_variable remove_method rename reopen repeated_combination
    repeated_permutation replace report_on_exception report_on_exception= require
    require_relative reset respond_to? respond_to_missing? reverse reverse! reverse_each
    rewind rfc2822 rfc3339 rfc822 rindex rjust rmdir rmtree root? rotate rotate! round
    rpartition rstrip rstrip! ruby2_keywords run sample saturday? scan scrub scrub! sec
    sec_fraction second second_fraction seek select select! send set_backtrace set_encoding
    set_encoding_by_bom set_trace_func setbyte setgid? setuid? sev_threshold sev_threshold=
    shift shuffle shuffle! singleton_class singleton_class? singleton_method
    singleton_method_added singleton_method_removed singleton_method_undefined
    singleton_methods size size? sleep slice slice! slice_after slice_before slice_when
    socket? sort sort! sort_by sort_by! source source_location spawn split sprintf squeeze
    squeeze! srand start start_with? stat status step sticky? stop? store strftime string
    string= strip strip! sub sub! sub_ext subclasses subsec subset? subtract succ succ! sum
    sunday? super_method superclass superset? swapcase swapcase! symlink? sync sync=
    synchronize syscall sysopen sysread sysseek system syswrite taint tainted? take take_while
    tally tap tell terminate test then thread_variable? thread_variable_get
    thread_variable_set thread_variables throw thursday? times to_a to_ary to_c to_date
    to_datetime to_enum to_f to_h to_hash to_i to_int to_io to_path to_proc to_r to_s to_set
    to_str to_sym to_time tr tr! tr_s tr_s! trace_var transform_keys transform_keys!
    transform_values transform_values! transpose trap truncate trust try_lock tty? tuesday?
    tv_nsec tv_sec tv_usec unbind undef_method undump ungetbyte ungetc unicode_normalize
    unicode_normalize! unicode_normalized? union uniq uniq! unknown unlink unlock unpack
    unpack1 unshift untaint untrace_var untrust untrusted? upcase upcase! update upto usec
    using utc utc? utc_offset utime valid_encoding? value value? values values_at wakeup warn
    warn! warn? wday wednesday? with_index with_object world_readable? world_writable?
    writable? writable_real? write write_nonblock xmlschema yday year yield yield_self zero?
    zip zone
    """.split()
)


# Resolving `require` and `require_relative`, which facts do not distinguish.
#
# The lookup checks the file's folder and the load path. If both have a match, it is ambiguous.

_STANDARD = frozenset(
    "abbrev base64 benchmark bigdecimal bundler cgi coverage csv date delegate digest drb "
    "English erb etc fcntl fiddle fileutils find forwardable io irb ipaddr json logger matrix "
    "minitest monitor mutex_m net objspace observer open-uri open3 openssl optparse ostruct "
    "pathname pp prettyprint prime pstore psych pty racc rake rbconfig rdoc readline reline "
    "resolv ripper rubygems securerandom set shellwords singleton socket stringio strscan "
    "syslog tempfile thread time timeout tmpdir tracer tsort un uri weakref yaml zlib".split()
)
_GEMS = frozenset(
    "action_controller active_job active_model active_record active_support nokogiri puma rack "
    "rails redis rspec sinatra".split()
)
"""As `_STANDARD`: required everywhere, and adapter files often share the name."""


class Requires(ModuleResolver):
    """Resolves requires, loads and autoloads."""

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the required file."""
        del language
        module = import_.module
        if not module or "#{" in module or module.startswith("/"):
            return ()
        folder = folder_of(path)
        written = encoded(module if module.endswith(".rb") else module + ".rb")
        relative = joined(folder, written)
        sibling = (relative,) if relative is not None and relative in self._tree else ()
        if module.startswith("."):
            return sibling
        if module.partition("/")[0] in _STANDARD and not ("/" in module and not sibling):
            return ()
        loaded = self._tree.first(self._places(folder, written))
        if module in _GEMS:
            return self._tree.first(self._libraries(folder, written))
        if sibling and loaded and sibling != loaded:
            return ()
        return sibling or loaded or self._elsewhere(written)

    def _libraries(self, folder: bytes, written: bytes) -> Iterator[bytes]:
        for place in ancestors(folder):
            at = joined(below(place, b"lib"), written)
            if at is not None:
                yield at

    def _places(self, folder: bytes, written: bytes) -> Iterator[bytes]:
        """Yield the load path: `lib` of the folders above, then those folders (`-Itest`)."""
        yield from self._libraries(folder, written)
        for place in ancestors(folder_of(folder) if folder else b""):
            at = joined(place, written)
            if at is not None:
                yield at

    def _elsewhere(self, written: bytes) -> tuple[bytes, ...]:
        files = self._tree.ending(b"lib/" + written)
        return (files[0],) if len(files) == 1 else ()


# Constants by nesting, methods of reopened classes, and mixins.
#
# A receiver's type is known if it was created by `new`, is `self` or a constant, or is an instance
# variable with such a value; all others remain unknown.

_MOST_OF_A_NAME = 8
"""If more methods share the name, a use has no possible targets."""


_THE_SAME = frozenset({"clone", "dup", "freeze", "itself", "tap"})
"""Methods of all objects that return their receiver or a copy of it."""


class RubyExpressions(Expressions):
    """Evaluates expressions, and finds the methods called on them."""

    def __init__(self, resolver: Resolver, members: RubyMembers) -> None:
        super().__init__(resolver)
        self._members = members
        self._takers = RubyTakers(members)

    def _of_self(self, path: bytes, scope: int, name: str) -> list[Referent]:
        """Return the methods of that name of `self` at a place."""
        own = self._self(path, scope)
        if own is None:
            return []
        if isinstance(own, Definition):
            type_ = Instance(*own[:2])
            # A block in a class body mostly runs on an instance: `it`, `before`, `get "/"`.
            return self._members.own_methods(type_, name) or self._members.methods(type_, name)
        return self._members.methods(own, name) or self._takers.methods(own, name)

    def _self(self, path: bytes, scope: int) -> Instance | Definition | None:
        """Return `self`; in class methods and in the class body it is the class itself."""
        own, model = self._members.own(path, scope), self.view.model(path)
        while own is not None and scope > 0:
            here = model.scopes[scope]
            if here.kind == "class":
                return Definition(*own[:2])
            if here.kind == "function" and here.symbol >= 0:
                if self._is_of_another(model, scope):
                    return None
                alone = here.symbol in self._members.singletons(path, model)
                return Definition(*own[:2]) if alone else own
            scope = here.parent
        return own

    def _is_of_another(self, model: FileModel, scope: int) -> bool:
        """Whether a scope is in a class created by a call: `Class.new(Base) { def f; end }`."""
        around = model.scopes[scope].parent
        if around < 0 or model.scopes[around].kind != "block":
            return False
        holder = model.functions[around]
        return model.scopes[holder].kind == "function" and model.scopes[holder].symbol >= 0

    def member_of(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the referents of a name after a receiver."""
        scope, receiver, name = reference.scope, reference.receiver, reference.name
        if reference.kind == "type":
            return self._members.constant(path, scope, f"{receiver}.{name}".replace("::", "."))[:1]
        line = reference.line
        if reference.argument_lines == VARIABLE:
            own = self._members.own(path, scope)
            return self._members.variables(own, name) if own is not None else []
        if reference.argument_lines == SETTER:
            setters = self.called_on(path, scope, receiver, f"{name}=", line=line)
            if setters:
                return setters
        return self.called_on(path, scope, receiver, name, line=line)

    def possible(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the methods that a use may refer to, by name alone.

        The receiver's type is unknown, or it is `self` with methods from an unknown type.
        """
        name = reference.name
        if reference.argument_lines == SETTER:
            name += "="
        receiver = reference.receiver
        is_operator = reference.arguments == PROTOCOL
        if reference.kind != "call" or is_operator or name in CORE_METHODS:
            return []
        if receiver:
            value = self.value(path, reference.scope, receiver, reference.line)
            # The view may have added the method to Ruby's own class of a string or a number.
            if value is not None and not isinstance(value, Literal):
                return []
        methods = self._members.named(name)
        return methods if len(methods) <= _MOST_OF_A_NAME else []

    def meant(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the referents of a name without a receiver."""
        scope, name, kind, symbol = (
            reference.scope,
            reference.name,
            reference.kind,
            reference.symbol,
        )
        model = self.view.model(path)
        if kind == "type":
            return self._members.constant(path, scope, name)[:1]
        own = self._members.own(path, scope)
        if name == "super":
            method = model.symbols[symbol].name if symbol >= 0 else ""
            return self._above(path, scope, own, method) if own is not None else []
        if self._local(path, model, scope, name) is not None:
            return []
        referents = self._of_self(path, scope, name)
        if referents or name == "new":
            return referents or ([Referent(*own[:2])] if own is not None else [])
        outer = self._outer(path, model, scope, name)
        if outer or own is None or name in CORE_METHODS:
            return outer
        return self._members.added(own, name)

    def _above(self, path: bytes, scope: int, own: Instance, method: str) -> list[Referent]:
        """Return the method that `super` calls."""
        if isinstance(self._self(path, scope), Definition):
            return [
                referent
                for base in self._members.superclasses(own)[:1]
                for referent in self._members.own_methods(base, method)
            ]
        methods = self._members.methods(own, method, above=True)
        return methods or self._takers.above(own, method)

    def _outer(self, path: bytes, model: FileModel, scope: int, name: str) -> list[Referent]:
        """Return a method defined outside of any class, from the innermost enclosing block.

        If no block defines it, return it from a file that is required, directly or indirectly.
        """
        functions = [
            at
            for at, symbol in enumerate(model.symbols)
            if symbol.name == name and symbol.parent < 0 and symbol.kind in CALLABLE
        ]
        alone = self._members.singletons(path, model)
        plain = [at for at in functions if at not in alone] or functions
        if not functions:
            return self._members.global_methods(path, name)
        around = {scope}
        while scope > 0:
            scope = model.scopes[scope].parent
            around.add(scope)
        places = {at: model.scopes[model.own_scope.get(at, 0)].parent for at in plain}
        seen = [at for at in plain if places[at] in around] or plain
        return [Referent(path, max(seen, key=lambda at: (places[at], at)), 0, name)] if seen else []

    def called_on(
        self, path: bytes, scope: int, receiver: str, name: str, line: int
    ) -> list[Referent]:
        """Return the targets of `a.f`."""
        targets: list[Referent] = []
        for value in each(self.value(path, scope, receiver, line)):
            if isinstance(value, Definition):
                type_ = Instance(*value[:2])
                referents = self._members.own_methods(type_, name)
                referents = referents or self._takers.own_methods(type_, name)
                targets += referents or ([Referent(*value[:2])] if name == "new" else [])
            elif isinstance(value, Instance):
                targets += self._members.methods(value, name)
        return list(dict.fromkeys(targets))

    def _local(self, path: bytes, model: FileModel, scope: int, name: str) -> Referent | None:
        while scope > 0 and model.scopes[scope].kind != "class":
            entry = model.names[scope].get(name)
            if entry is not None and entry.rows:
                return Referent(path, LOCAL, scope, name)
            if model.scopes[scope].kind == "function" and model.scopes[scope].symbol >= 0:
                return None
            scope = model.scopes[scope].parent
        entry = model.names[0].get(name) if scope == 0 else None
        return Referent(path, LOCAL, 0, name) if entry is not None and entry.rows else None

    def value(self, path: bytes, scope: int, text: str, line: int) -> Value:
        """Return the value of an expression."""
        if text.startswith("::"):
            scope, text = 0, text[2:]
        return super().value(path, scope, text.replace("::", "."), line)

    def _value(
        self, path: bytes, scope: int, taken: tuple[str, tuple[str, ...]], line: int
    ) -> Value:
        head, rest = taken
        if head[0] == "(":
            return super()._value(path, scope, taken, line)
        if head == "0":
            return Literal() if not rest else None
        at = 0
        if head[:1].isupper():
            name = head
            value: Value = self._constant_value(path, scope, name)
            while at < len(rest) and rest[at][:1].isupper():
                name = f"{name}.{rest[at]}"
                value = self._constant_value(path, scope, name)
                at += 1
        elif head == "self":
            value = self._self(path, scope)
        else:
            value = self._bare(path, scope, head, line)
        for step in rest[at:]:
            if value is None:
                return None
            if step != "()":
                value = together([self._sent(part, step) for part in each(value)])
        return value

    def _constant_value(self, path: bytes, scope: int, name: str) -> Value:
        referents = self._members.constant(path, scope, name)
        return Definition(referents[0].path, referents[0].symbol) if referents else None

    def _bare(self, path: bytes, scope: int, name: str, line: int) -> Value:
        """Return a bare name's value: a local variable, a method of `self`, or else `@name`."""
        model = self.view.model(path)
        local = self._local(path, model, scope, name)
        if local is not None:
            return self._of_rows(local, line)
        own = self._self(path, scope)
        if own is None:
            outer = self._outer(path, model, scope, name)
            return self.resolver.result(*outer[0][:2], None) if outer else None
        if isinstance(own, Definition) and name != "new":
            type_ = Instance(*own[:2])
            if not self._members.own_methods(type_, name):
                return self._sent(type_, name)
        return self._sent(own, name)

    def _sent(self, value: Value, name: str) -> Value:
        if isinstance(value, Definition):
            if name == "new":
                return Instance(*value[:2])
            type_ = Instance(*value[:2])
            referents = self._members.own_methods(type_, name)
            referents = referents or self._takers.own_methods(type_, name)
        elif isinstance(value, Instance):
            if name == "class":
                return Definition(*value[:2])
            type_ = value
            referents = self._members.methods(type_, name)
            if name in _THE_SAME and not referents:
                return value
        else:
            return None
        for referent in referents:
            if self.view.symbol(referent).kind in CALLABLE:
                return self.resolver.result(referent.path, referent.symbol, value)
        return self._attribute_value(type_, name)

    def _attribute_value(self, own: Instance, name: str) -> Value:
        """Return the values assigned to an instance variable wherever its class is opened."""
        for referent in self._members.parts(self._members.qualified(own)):
            rows = self.view.model(referent.path).attributes.get(referent.symbol, {}).get(name, [])
            for row in rows:
                value = (
                    self.value(referent.path, row.scope, row.text, row.line)
                    if row.how == "="
                    else None
                )
                if isinstance(value, Instance):
                    return value
        return None


def resolver(view: View) -> Resolver:
    """Build a resolver for the Ruby files of a view."""
    ruby = Resolver(view, Names(view))
    ruby.by_place = False
    members = RubyMembers(ruby)
    expressions = RubyExpressions(ruby, members)
    ruby.possible = expressions.possible
    return ruby.join(Annotations(ruby), members, Calls(ruby), expressions)


# The language description of Ruby.

SPECS = {
    "ruby": LanguageSpec(
        fields_are_inherited=True,
        modules="ruby:Requires",
        resolver="ruby:resolver",
        follows_names=True,
        keeps_names=True,
        indexes_view=True,
        nameless_super=True,
        overloads_apart=True,
        unions=True,
        constructors=frozenset({"initialize"}),
        star_spreads=True,
        members_apart=True,
    )
}
