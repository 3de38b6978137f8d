"""Names of the methods that values of Ruby itself have.

A use of one of them on a receiver of unknown type says nothing of the methods of a view that are
called so. By `instance_methods` of the core classes of Ruby 3.1, and of set, stringio, tempfile,
pathname, date and logger.
"""

from __future__ import annotations

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
