import { type ClientExtension, createClient } from '@x/client'
import { connectAny } from '@x/legacy/client'
import type { JsonObject, RpcNotification } from '@x/schema'
import { expect, test } from 'vitest'
import { textOf } from './asking.ts'
import { bundleProgram } from './child-program.ts'
import { countingIdentifier, createExtendedServer } from './extended-v1-server.ts'
import { serveOfficial } from './official-v1-server.ts'

const settings = { steps: true }

interface Counting {
  count(to: number): Promise<JsonObject>
}

/** A client extension that declares a capability, calls a method and receives its notifications. */
function countingExtension(received: RpcNotification[]): ClientExtension<'counting', Counting> {
  const onNotification = (notification: RpcNotification): boolean => {
    received.push(notification)
    return false
  }
  return {
    extends: 'client',
    name: 'counting',
    identifier: countingIdentifier,
    capabilities: { extensions: { [countingIdentifier]: settings } },
    start: ({ request }) => ({
      api: { count: (to) => request(`${countingIdentifier}/count`, { to }, { onNotification }) },
    }),
  }
}

/** A server that a test connects to: a URL or a command. */
interface Target extends AsyncDisposable {
  readonly address: Parameters<typeof connectAny>[0]
}

const overHttp = async (hasSessions: boolean): Promise<Target> => {
  const { url, close } = await serveOfficial(hasSessions, createExtendedServer)
  return { address: url, [Symbol.asyncDispose]: close }
}

const overStdio = async (): Promise<Target> => {
  const program = await bundleProgram(new URL('programs/extended-server.ts', import.meta.url))
  const address = { command: process.execPath, args: [program.path] }
  return { address, [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() }
}

test.each([
  ['stdio', overStdio, { [countingIdentifier]: settings }],
  ['HTTP', () => overHttp(true), { [countingIdentifier]: settings }],
  // The official server without sessions knows the capabilities of a client only in `initialize`.
  ['HTTP without sessions', () => overHttp(false), {}],
])(
  'an extension works between our client and an official server of 2025-11-25 over %s: capabilities, a method and its notifications [LEX-003]',
  async (_, serve, declared) => {
    await using target = await serve()
    const connection = connectAny(target.address, { handshakeTimeoutMs: 60_000 })
    const received: RpcNotification[] = []
    const extensions = [countingExtension(received)] as const
    await using client = createClient(connection, { name: 'host', version: '1.0.0', extensions })
    expect((await client.discover()).capabilities.extensions).toEqual({ [countingIdentifier]: { max: 3 } })
    expect(connection.peer).toMatchObject({ revision: '2025-11-25' })
    expect(await client.counting.count(2)).toMatchObject({ count: 2 })
    expect(received).toMatchObject([
      { method: `${countingIdentifier}/step`, params: { step: 1 } },
      { method: `${countingIdentifier}/step`, params: { step: 2 } },
    ])
    expect(JSON.parse(String(textOf(await client.callTool('declared'))))).toEqual(declared)
  },
)
