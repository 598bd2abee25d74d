import { expect, test } from 'vitest'
import { parseInstanceMessage, parseInstanceCommand } from './instance-message.ts'

test.each([
  { kind: 'listening', pid: 1 },
  { kind: 'load', eventLoopDelayMs: 1.5, running: 0, isReady: false },
  { kind: 'begin', call: 'a', limit: 10, next: 2 },
  { kind: 'work', call: 'a', from: 2, next: 10 },
  { kind: 'end', call: 'a' },
  { kind: 'paced', chunks: 10, busyMs: 57.5 },
])('a message of the kind $kind is parsed', (message) => {
  expect(parseInstanceMessage(message)).toEqual(message)
})

test.each([
  undefined,
  null,
  'listening',
  {},
  { kind: 'ended' },
  { kind: 'end', call: 'x'.repeat(65) },
  { kind: 'work' },
])('%j is rejected as a message', (message) => {
  expect(parseInstanceMessage(message)).toBeUndefined()
})

test.each([
  [{ kind: 'throttle', share: 0.9 }, true],
  [{ kind: 'shedding', on: false }, true],
  [{ kind: 'throttle', share: 1 }, false],
  [{ kind: 'stop' }, false],
  [undefined, false],
])('%j is a valid command: %j', (command, isCommand) => {
  expect(parseInstanceCommand(command)).toEqual(isCommand ? command : undefined)
})
