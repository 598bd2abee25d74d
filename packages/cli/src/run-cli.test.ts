import { describe, expect, test } from 'vitest'
import { runCommand } from './testing/run-command.ts'

/** Returns the names of the commands in a help text. */
function commandsIn(help: string): readonly string[] {
  const [, section = ''] = help.split('Commands:\n')
  return section.split('\n').flatMap((line) => /^ {2}([a-z]+)/.exec(line)?.[1] ?? [])
}

/** Returns the command lines of all commands without subcommands. */
async function listLeaves(path: readonly string[] = []): Promise<readonly (readonly string[])[]> {
  const { out } = await runCommand([...path, '--help'])
  const names = commandsIn(out)
  if (names.length === 0) return [path]
  return (await Promise.all(names.map((name) => listLeaves([...path, name])))).flat()
}

test('the help of each command has an example of that command, and the option --json', async () => {
  const leaves = await listLeaves()
  expect(leaves.length).toBeGreaterThan(7)
  for (const leaf of leaves) {
    const { code, out, err } = await runCommand([...leaf, '--help'])
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(`Example:\n  mcpx ${leaf.join(' ')} `)
    expect(out).toContain('--json')
  }
})

describe("a user's mistake has one message and no stack trace [OPS-010]", () => {
  test.each([
    ['an unknown command', ['taks'], 2, "mcpx: unknown command 'taks'\n(Did you mean tasks?)"],
    ['an unknown option', ['keys', 'new', '--size', '3'], 2, "mcpx: unknown option '--size'"],
    ['a missing argument', ['tasks', 'show', '--store', 'pglite:x'], 2, "mcpx: missing required argument 'id'"],
    ['one argument too many', ['keys', 'new', 'one'], 2, 'mcpx: too many arguments'],
    ['a missing option', ['keys', 'check'], 2, "mcpx: required option '--keys-file <file>' not specified"],
    ['no store', ['tasks', 'counts'], 2, 'mcpx: The command needs the address of a store: set MCPX_STORE, or give'],
    ['a number that is none', ['tasks', 'list', '--store', 'pglite:x', '--limit', 'all'], 2, 'Write a whole number'],
    ['a time without a unit', ['tasks', 'list', '--store', 'pglite:x', '--older-than', '5'], 2, 'such as 5m'],
    ['a page that is too large', ['tasks', 'list', '--store', 'pglite:x', '--limit', '1001'], 2, 'at most 1000'],
    ['an unknown store', ['tasks', 'counts', '--store', 'mysql://u:secret@h/d'], 2, 'store has the scheme mysql:'],
    ['a folder without a scheme', ['tasks', 'list', '--store', './tasks'], 2, 'write "pglite:./tasks" for a folder'],
    ['a store in memory', ['tasks', 'counts', '--store', 'memory:'], 2, 'in the process of its server only'],
    ['a misspelt folder', ['tasks', 'counts', '--store', 'pglite:./nostore'], 2, 'there is no folder ./nostore'],
    [
      'a file that is not there',
      ['keys', 'check', '--keys-file', '/nowhere/keys'],
      2,
      "'/nowhere/keys'\n  Give its path, or make",
    ],
    ['a server that is not there', ['tasks', 'counts', '--store', 'postgres://127.0.0.1:1/x'], 1, 'ECONNREFUSED'],
  ] as const)('%s', async (_, args, expectedCode, message) => {
    const { code, out, err } = await runCommand(args)
    expect([code, out]).toEqual([expectedCode, ''])
    expect(err).toContain(message)
    expect(err).not.toMatch(/^error:|secret/m)
    expect(err).not.toMatch(/\n\s+at /)
  })

  test('with --json the message is JSON on the standard output, too', async () => {
    const { code, json } = await runCommand(['keys', 'check', '--keys-file', '/nowhere/keys', '--json'])
    expect([code, json()]).toEqual([2, { error: { message: expect.stringContaining('ENOENT') } }])
  })
})

test('without a command the help is written, and the code is that of wrong usage', async () => {
  const { code, out, err } = await runCommand([])
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain('Usage: mcpx [options] [command]')
})

test.each([
  ['a terminal', { columns: 80 }, true],
  ['a file', {}, false],
  ['a terminal with NO_COLOR', { columns: 80, env: { NO_COLOR: '1' } }, false],
  ['a terminal with NO_COLOR and FORCE_COLOR', { columns: 80, env: { NO_COLOR: '1', FORCE_COLOR: '1' } }, false],
  ['a terminal without colours', { columns: 80, env: { TERM: 'dumb' } }, false],
  ['a file with FORCE_COLOR', { env: { FORCE_COLOR: '1' } }, true],
] as const)('the output to %s has colours: %#', async (_, options, hasColors) => {
  const path = `${import.meta.dirname}/testing/two.keys`
  const { code, out } = await runCommand(['keys', 'check', '--keys-file', path], options)
  expect([code, out.includes('\u001B[')]).toEqual([0, hasColors])
})
