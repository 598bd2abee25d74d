import { createServer, resource, tool } from '@x/server'
import { testClient } from '@x/testing'
import { expect, test } from 'vitest'
import { follow, serveUser, showTools } from '../src/client-subscriptions.ts'

const [one, two] = ['one', 'two'].map((name) => tool(name, { description: name, run: () => name }))

function serve() {
  const file = (uri: string) => resource(uri, { name: uri, read: () => uri })
  const server = createServer({
    name: 'demo',
    version: '1.0.0',
    tools: one ? [one] : [],
    resources: [file('file:///a')],
  })
  return { server, client: testClient(server) }
}

test('the tools are shown when the stream opens and when they change, until the loop is left', async () => {
  const { server, client } = serve()
  const shown: (readonly string[])[] = []
  const steps = [() => server.update({ tools: one && two ? [one, two] : [] }), () => server.update({ tools: [] })]
  await showTools(client, (names) => {
    shown.push(names)
    steps.shift()?.()
  })
  expect(shown).toEqual([['one'], ['one', 'two'], []])
})

test('a client receives the changes of resources that the server reports', async () => {
  const { server, client } = serve()
  const lines: string[] = []
  let done = (): void => {}
  const told = new Promise<void>((resolve) => void (done = resolve))
  void follow(client, ['file:///a', 'file:///none'], (line) => {
    lines.push(line)
    if (lines.length === 1) void server.notifyResourceUpdated('file:///a')
    else done()
  })
  await told
  expect(lines).toEqual(['listening to file:///a', 'file:///a is another now'])
})

test('following ends when the server has no subscriptions', async () => {
  const mute = createServer({ name: 'mute', version: '1.0.0', tools: one ? [one] : [], subscriptions: false })
  const running = follow(testClient(mute), ['file:///a'], () => {})
  await expect(running).rejects.toMatchObject({ rpc: { code: -32601 } })
})

test('a cache is kept fresh while work is done', async () => {
  const { client } = serve()
  let names: readonly string[] = []
  await serveUser(client, async () => {
    names = (await client.listTools()).map(({ name }) => name)
  })
  expect(names).toEqual(['one'])
})
