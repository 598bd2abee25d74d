import { UsageError } from '@apps/front/usage'
import { expect, test } from 'vitest'
import { parseOptions } from './options.ts'

test.each([
  [[], { once: false, help: false, port: 4522, instances: 3 }],
  [['--once', '--port', '0', '--instances=1'], { once: true, help: false, port: 0, instances: 1 }],
  [['--once'], { once: true, port: 0, instances: 3 }],
  [['--once', '--port', '4523'], { once: true, port: 4523 }],
  [['-h'], { once: false, help: true, port: 4522, instances: 3 }],
  [['--auth', '--dpop'], { auth: true, dpop: true, stdio: false }],
  [['--stdio'], { stdio: true, auth: false }],
])('the arguments %j are understood', (args, expected) => {
  expect(parseOptions(args)).toMatchObject(expected)
})

test.each([
  [['--port', '65536'], '--port is "65536"; it should be a whole number from 0 to 65535'],
  [['--port', '1e3'], '--port is "1e3"'],
  [['--instances', '0'], '--instances is "0"; it should be a whole number from 1 to 16'],
  [['--instances', '17'], '--instances is "17"'],
  [['--twice'], "Unknown option '--twice'"],
  [['--dpop'], '--dpop is about tokens: add --auth'],
  [['--stdio', '--port', '80'], '--stdio serves one host alone: leave out --port'],
  [['extra'], 'Unexpected argument'],
])('the arguments %j are rejected', (args, message) => {
  expect(() => parseOptions(args)).toThrow(UsageError)
  expect(() => parseOptions(args)).toThrow(message)
})
