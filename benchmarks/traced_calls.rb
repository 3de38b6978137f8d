# frozen_string_literal: true

# Records what a Ruby program calls, and writes it as JSON lines when the program ends.
# `benchmarks/tracedcalls.py` loads this by RUBYOPT and reads the lines. TRACE_ROOT: folder of the
# files that count; TRACE_OUT: output path, to which the process id is appended.
#
# A line is {"call": [file, line, file called, line of its definition, name, class constructed]}, or
# {"file": ..., "definitions": [[kind, first line, last line, name], ...]} for each file loaded.

require 'json'
require 'set'

ROOT = "#{File.realpath(ENV.fetch('TRACE_ROOT'))}/"
CALLS = Set.new

def within(path) = path&.start_with?(ROOT) ? path[ROOT.size..] : nil

def constructed(name, receiver)
  return unless name == :initialize && receiver.class.name

  file, line = Object.const_source_location(receiver.class.name)
  inside = within(file)
  inside && "#{inside}:#{line}"
rescue NameError
  nil # a class whose name is not a constant
end

TRACE = TracePoint.new(:call) do |event|
  called = within(event.path)
  place = called && caller_locations(2, 1)&.first
  calling = place && within(place.absolute_path)
  next unless calling

  CALLS << [calling, place.lineno, called, event.lineno, event.method_id.to_s,
            constructed(event.method_id, event.self)]
end

def definitions(node, list)
  return list unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)

  name = { DEFN: 0, DEFS: 1 }[node.type]
  if name || %i[CLASS MODULE].include?(node.type)
    list << [node.type.to_s, node.first_lineno, node.last_lineno, name ? node.children[name].to_s : '']
  end
  node.children.each { |child| definitions(child, list) }
  list
end

# Test runners run their tests in at_exit. This handler was registered first, so it runs last.
at_exit do
  TRACE.disable
  files = CALLS.flat_map { |call| [call[0], call[2]] }.uniq
  File.open("#{ENV.fetch('TRACE_OUT')}.#{Process.pid}", 'w') do |out|
    CALLS.each { |call| out.puts({ call: call }.to_json) }
    files.each do |file|
      tree = RubyVM::AbstractSyntaxTree.parse_file(ROOT + file)
      out.puts({ file: file, definitions: definitions(tree, []) }.to_json)
    end
  end
end
TRACE.enable
