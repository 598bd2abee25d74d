import { describe, expect, test } from 'vitest'
import { parseCommandLine } from './command-line.ts'

describe('the command line', () => {
  test.each([
    [['serve'], { kind: 'serve', port: undefined }],
    [['serve', '--port', '3101'], { kind: 'serve', port: 3101 }],
    [['server', '2026-07-28'], { kind: 'server', revision: '2026-07-28', scenarios: [], port: undefined }],
    [['--', 'client', '2026-07-28', 'a', 'b'], { kind: 'client', revision: '2026-07-28', scenarios: ['a', 'b'] }],
    [['--help'], { kind: 'help' }],
  ])('reads %j', (args, command) => {
    expect(parseCommandLine(args)).toMatchObject(command)
  })

  test.each([
    [[], 'expected server, client or serve, got ""'],
    [['both'], 'expected server, client or serve, got "both"'],
    [['server'], 'server needs a revision'],
    [['server', 'tools-list'], '"tools-list" is no revision'],
    [['serve', 'x'], 'serve takes no argument, got "x"'],
    [['serve', '--port', '-1'], '--port'],
    [['serve', '--port', '65536'], '--port takes a number from 0 to 65535'],
    [['client', '2026-07-28', '--port', '1'], 'client takes no --port'],
    [['server', '2026-07-28', '--prot', '1'], '--prot'],
  ])('rejects %j', (args, message) => {
    expect(() => parseCommandLine(args)).toThrow(message)
  })
})
