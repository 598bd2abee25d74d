import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createServer, type LogRecord, sealedState, type ServerDefinition } from '../index.ts'
import { createManualBus, openListenStream } from '../testing/listening.ts'

describe('a server whose state other instances may share, and that has no bus', () => {
  const state = sealedState({ keys: [randomBytes(32)] })
  const warningsOf = async (definition: Partial<ServerDefinition>, clientAddress: string): Promise<string[]> => {
    const warnings: string[] = []
    const log = ({ code = '' }: LogRecord): void => void warnings.push(code)
    const server = createServer({ name: 'demo', version: '1.0.0', tools: [], log, ...definition })
    for (let time = 0; time < 2; time++)
      (await openListenStream(server, { toolsListChanged: true }, { clientAddress })).abort()
    return warnings
  }

  test.each([
    ['warns once that changes at other instances are not delivered', { state }, '192.0.2.1', ['local_bus']],
    ['warns for a client with an address of IPv6', { state }, '2001:db8::1', ['local_bus']],
    ['says nothing to a client of this machine', { state }, '127.0.0.1', []],
    ['says nothing to a client of this machine over a socket of IPv6', { state }, '::ffff:127.0.0.1', []],
    ['says nothing to a client without an address, as over stdio', { state }, 'stdio', []],
    ['says nothing with a bus', { state, subscriptions: { bus: createManualBus({ atOnce: true }) } }, '192.0.2.1', []],
    ['says nothing without a state', {}, '192.0.2.1', []],
  ])('%s', async (_, definition, clientAddress, codes) => {
    expect(await warningsOf(definition, clientAddress)).toEqual(codes)
  })
})
