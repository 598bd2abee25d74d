import { metaKeys } from '@x/schema'
import { tool } from '@x/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { overEveryTransport, type Peer } from './over-every-transport.ts'
import { send } from './raw-request.ts'

const rounds = 200
const concurrency = 50

/** Reports its input and its caller before and after a number of turns of the event loop. */
const echoSecret = tool('echoSecret', {
  description: 'Returns a secret after some turns',
  input: z.object({ secret: z.string(), turns: z.int() }),
  run: async ({ secret, turns }, ctx) => {
    ctx.progress(1, 2, `${ctx.principal?.subject} ${secret}`)
    for (let turn = 0; turn < turns; turn += 1) await afterImmediate()
    ctx.progress(2, 2, `${ctx.principal?.subject} ${secret}`)
    return `${ctx.principal?.subject} ${secret}`
  },
})

// CVE-2026-25536 and CVE-2026-111770: a shared server sent one client the answers of another, because each client
// starts its ids anew.
overEveryTransport('one server that two clients share', (serve) => {
  test('gives each client its own results and progress, with equal ids and tokens, two hundred times [PRG-007]', async () => {
    await using served = await serve({ tools: [echoSecret] })
    const peers = ['ada', 'grace'].map((subject) => ({ subject, ...served.connect({ subject }) }))
    for (let first = 0; first < rounds; first += concurrency) {
      const ids = Array.from({ length: concurrency }, (_, place) => first + place)
      await Promise.all(ids.flatMap((id) => peers.map((peer) => sendSecret(peer, id))))
    }
  })
})

async function sendSecret({ subject, exchange }: Peer & { readonly subject: string }, id: number): Promise<void> {
  const secret = `${subject}-${id}`
  // The first call to arrive ends last, and the order differs for the two clients.
  const turns = (id * (subject === 'ada' ? 7 : 11)) % 5
  const params = { name: 'echoSecret', arguments: { secret, turns } }
  const meta = { [metaKeys.progressToken]: id }
  const { response, notifications } = await send(exchange, { method: 'tools/call', params, meta, id })
  const expected = `${subject} ${secret}`
  expect(response).toMatchObject({ id, result: { content: [{ type: 'text', text: expected }] } })
  expect(notifications.map(({ params: received }) => received)).toMatchObject(
    [1, 2].map((progress) => ({ progressToken: id, progress, message: expected })),
  )
}

function afterImmediate(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
