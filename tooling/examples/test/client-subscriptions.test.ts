import { createServer, tool } from '@x/server'
import { testClient } from '@x/testing'
import { expect, test } from 'vitest'
import { serveUser, showTools } from '../src/client-subscriptions.ts'

const [one, two] = ['one', 'two'].map((name) => tool(name, { description: name, run: () => name }))

function serve() {
  const server = createServer({ name: 'demo', version: '1.0.0', tools: one ? [one] : [] })
  return { server, client: testClient(server) }
}

test('the tools are shown when the stream opens and after each change, until the signal aborts', async () => {
  const { server, client } = serve()
  const shown: (readonly string[])[] = []
  const steps = [() => server.update({ tools: one && two ? [one, two] : [] }), () => server.update({ tools: [] })]
  const stop = new AbortController()
  const end = new Error('enough is shown')
  const showing = showTools(
    client,
    (names) => {
      shown.push(names)
      if (names.length === 0) stop.abort(end)
      steps.shift()?.()
    },
    stop.signal,
  )
  await expect(showing).rejects.toBe(end)
  expect(shown).toEqual([['one'], ['one', 'two'], []])
})

test('the lists are available during the work with a fresh cache', async () => {
  const { client } = serve()
  let names: readonly string[] = []
  await serveUser(client, async () => {
    names = (await client.listTools()).map(({ name }) => name)
  })
  expect(names).toEqual(['one'])
})
