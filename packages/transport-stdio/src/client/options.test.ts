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
