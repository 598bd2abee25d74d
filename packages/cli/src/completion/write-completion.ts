import type { Command } from 'commander'
import type { ExitCode } from '../cli-error.ts'
import type { Printer } from '../output/printer.ts'

interface Entry {
  readonly path: string
  readonly words: readonly { readonly word: string; readonly description: string }[]
}

/** Completes the commands and options of a shell as they are defined. */
export function writeCompletion(printer: Printer, shell: string, program: Command): ExitCode {
  const entries = listEntries(program, [])
  const script = shell === 'fish' ? fishScript(entries) : posixScript(entries, shell === 'zsh')
  printer.result({ shell, script }, script)
  return 0
}

function listEntries(command: Command, path: readonly string[]): readonly Entry[] {
  const options = command.createHelp().visibleOptions(command)
  const words = [
    ...command.commands.map((one) => ({ word: one.name(), description: one.description() })),
    ...options.map(({ long, short, description }) => ({ word: long ?? short ?? '', description })),
  ]
  const below = command.commands.flatMap((one) => listEntries(one, [...path, one.name()]))
  return [{ path: path.join(' '), words }, ...below]
}

/** Bash and zsh have one script but for the names of the variables. Where no word fits, they complete files. */
function posixScript(entries: readonly Entry[], isZsh: boolean): string {
  const paths = entries.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`]))
  const cases = entries.map(
    ({ path, words }) => `    '${path}') candidates=(${words.map(({ word }) => word).join(' ')}) ;;`,
  )
  const earlierWords = isZsh ? '"${(@)words[2,CURRENT-1]}"' : '"${COMP_WORDS[@]:1:COMP_CWORD-1}"'
  const reply = isZsh
    ? '  compadd -- $candidates || _files\n'
    : '  COMPREPLY=($(compgen -W "${candidates[*]}" -- "${COMP_WORDS[COMP_CWORD]}"))\n'
  return [
    '_mcpx() {',
    "  local word at='' candidates=()",
    `  for word in ${earlierWords}; do`,
    '    case "${at:+$at }$word" in',
    `      ${paths.join('|')}) at="\${at:+$at }$word" ;;`,
    '    esac',
    '  done',
    '  case "$at" in',
    ...cases,
    '  esac',
    `${reply}}`,
    isZsh ? 'compdef _mcpx mcpx' : 'complete -o default -F _mcpx mcpx',
  ].join('\n')
}

function fishScript(entries: readonly Entry[]): string {
  const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`
  const paths = entries.flatMap(({ path }) => (path === '' ? [] : [quoted(path)]))
  const lines = entries.flatMap(({ path, words }) =>
    words.map(({ word, description }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${quoted(word)}`
      return `complete -c mcpx -n ${quoted(`__mcpx_at '${path}'`)} ${what} -d ${quoted(description)}`
    }),
  )
  return [
    'function __mcpx_at',
    "  set -l at ''",
    '  for word in (commandline -opc)[2..-1]',
    '    set -l next (string trim "$at $word")',
    `    if contains -- "$next" ${paths.join(' ')}`,
    '      set at "$next"',
    '    end',
    '  end',
    '  test "$at" = "$argv[1]"',
    'end',
    ...lines,
  ].join('\n')
}
