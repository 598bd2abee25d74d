import { UsageError } from '@apps/front/usage'
import { expect, test } from 'vitest'
import { parseOptions } from './options.ts'

const defaults = {
  once: false,
  help: false,
  sheds: true,
  balancer: 'cluster',
  port: 4530,
  mcpPort: 4531,
  instances: 3,
}

test.each([
  [[], {}],
  [['--once', '--balancer', 'nginx'], { once: true, balancer: 'nginx' }],
  [['--balancer=haproxy', '--no-shedding'], { balancer: 'haproxy', sheds: false }],
  [['--port', '0', '--mcp-port', '8080', '--instances', '8'], { port: 0, mcpPort: 8080, instances: 8 }],
  [['-h'], { help: true }],
])('%j is parsed', (args, expected) => {
  expect(parseOptions(args)).toEqual({ ...defaults, ...expected })
})

test.each([
  [['--instances', '1'], '--instances is "1"; it should be a whole number from 2 to 8'],
  [['--balancer', 'envoy'], '--balancer is "envoy"; it should be cluster, nginx or haproxy'],
  [['--port', 'page'], '--port is "page"'],
  [['--twice'], "Unknown option '--twice'"],
])('%j is rejected, and the message states the valid values', (args, message) => {
  expect(() => parseOptions(args)).toThrow(UsageError)
  expect(() => parseOptions(args)).toThrow(message)
})
