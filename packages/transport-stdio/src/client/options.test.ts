import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { connectStdio, connectStreams } from '../index.ts'

test.each([
  ['connectStdio', () => connectStdio(Object.assign({ command: 'server' }, { arg: ['--read-only'] })), 'args'],
  [
    'connectStreams',
    () => connectStreams(Object.assign({ input: new PassThrough(), output: new PassThrough() }, { graceMS: 1 })),
    'graceMs',
  ],
])('%s refuses an option that does not exist', (name, connect, present) => {
  expect(connect).toThrow(new RegExp(`^${name} has no option .* did you mean \`${present}\`\\?$`))
})

test.each<[object, string]>([
  [{ env: 'KEY=k' }, 'connectStdio: env must be an object, and is a string'],
  [{ stderr: 'ignore' }, "connectStdio: stderr must be 'inherit' or a function, and is a string"],
  [{ onExit: true }, 'connectStdio: onExit must be a function, and is a boolean'],
  [{ restart: 'never' }, 'connectStdio: restart must be true or false, and is a string'],
])('an option of the wrong kind is refused: %o', (options, message) => {
  expect(() => connectStdio({ command: 'server', ...options })).toThrow(message)
})

test('a time without an end is refused, because the timers of the platform would end it at once', () => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  expect(() => connectStreams({ input, output, graceMs: Infinity })).toThrow(
    'graceMs is Infinity: write a number from 0',
  )
})
