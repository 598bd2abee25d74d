import { findFreePort } from '@tooling/real-servers/free-port'
import { describeNeeding } from '@tooling/vitest/needs'
import { createClient } from '@x/client'
import { createServer, sealedState, tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { keys, textOf } from './asking.ts'
import { expectStop, stopServer } from './deployed-fleet.ts'
import { type DeployedGateway, deployGateway } from './deployed-gateway.ts'
import { folderHaproxy, type ProxyKind, startProxy } from './proxies.ts'

let deployed: DeployedGateway
let upstream: HttpServer
beforeAll(async () => {
  const work = tool('work', {
    description: 'Works for a while',
    run: async () => {
      await new Promise((resolve) => setTimeout(resolve, 200))
      return 'worked'
    },
  })
  const ask = tool('ask', {
    description: 'Asks for a name',
    run: async (_, ctx) => {
      const { name } = await ctx.elicit('name', { message: 'Who?', schema: z.object({ name: z.string() }) })
      return `Hello, ${name}!`
    },
  })
  const state = sealedState({ keys: [keys.first] })
  upstream = await serveHttp(createServer({ name: 'crm', version: '1.0.0', tools: [work, ask], state }))
  deployed = await deployGateway(upstream.url)
})
afterAll(async () => {
  await upstream?.close({ graceMs: 0 })
  await deployed?.[Symbol.asyncDispose]()
})

/** HAProxy as in the folder, with checks that are as much faster as the notice of the instances is shorter. */
const quickHaproxy: ProxyKind = {
  ...folderHaproxy,
  configure: (setup, run) => folderHaproxy.configure(setup, run).replace('inter 1s', 'inter 300ms'),
}

describeNeeding('haproxy', 'two instances of a gateway behind the HAProxy of the folder', (program) => {
  test('are restarted in turn under load without losing a call [OPS-013]', async () => {
    const ports = [await findFreePort(), await findFreePort()]
    const instances = await Promise.all(ports.map((port) => deployed.startInstance(port)))
    await using balancer = await startProxy(program, quickHaproxy, { ports })
    await using connection = connectHttp(balancer.url)
    const elicit = () => ({ action: 'accept', content: { name: 'Ada' } }) as const
    const client = createClient(connection, { name: 'host', version: '1.0.0', elicit })
    const load = { isOver: false, sent: 0, answers: [] as string[] }
    /** Two callers of each tool, one call after the other. */
    const callers = ['crm__work', 'crm__ask', 'crm__work', 'crm__ask'].map(async (name) => {
      while (!load.isOver) {
        load.sent += 1
        load.answers.push(await client.callTool(name).then(textOf, (error) => `lost: ${error}`))
      }
    })
    for (const [index, instance] of instances.entries()) {
      expect(await stopServer(instance)).toEqual([0, null])
      instances[index] = await deployed.startInstance(ports[index] ?? 0)
      const before = load.answers.length
      await expect.poll(() => load.answers.length).toBeGreaterThan(before + 12)
    }
    load.isOver = true
    await Promise.all(callers)
    process.stdout.write(`${load.sent} calls sent, ${load.answers.length} answered\n`)
    expect([...new Set(load.answers)].toSorted()).toEqual(['Hello, Ada!', 'worked'])
    expect(load.answers).toHaveLength(load.sent)
    await expectStop(instances)
  })
})
