import { metaKeys } from '@x/schema'
import { tool } from '@x/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { overEveryTransport, type Peer } from './over-every-transport.ts'
import { send } from './raw-request.ts'

const rounds = 1000
const atOnce = 50

/** Says what it was told and by whom, before and after it let others go first. */
const whisper = tool('whisper', {
  description: 'Keeps a secret for a while',
  input: z.object({ secret: z.string(), turns: z.int() }),
  run: async ({ secret, turns }, ctx) => {
    ctx.progress(1, 2, `${ctx.principal?.subject} ${secret}`)
    for (let turn = 0; turn < turns; turn += 1) await nextTurn()
    ctx.progress(2, 2, `${ctx.principal?.subject} ${secret}`)
    return `${ctx.principal?.subject} ${secret}`
  },
})

// CVE-2026-25536 and CVE-2026-111770: a server that many clients shared gave one the answers of another, because ids
// begin anew with each client.
overEveryTransport('one server that two clients share', (serve) => {
  test('gives each its own answers and progress, with the same ids and tokens, a thousand times', async () => {
    await using served = await serve({ tools: [whisper] })
    const peers = ['ada', 'grace'].map((subject) => ({ subject, ...served.connect({ subject }) }))
    for (let first = 0; first < rounds; first += atOnce) {
      const ids = Array.from({ length: atOnce }, (_, place) => first + place)
      await Promise.all(ids.flatMap((id) => peers.map((peer) => tellSecret(peer, id))))
    }
  })
})

async function tellSecret({ subject, exchange }: Peer & { readonly subject: string }, id: number): Promise<void> {
  const secret = `${subject}-${id}`
  // The first to arrive ends last, and differently for each of the two.
  const turns = (id * (subject === 'ada' ? 7 : 11)) % 5
  const params = { name: 'whisper', arguments: { secret, turns } }
  const meta = { [metaKeys.progressToken]: id }
  const { response, notifications } = await send(exchange, { method: 'tools/call', params, meta, id })
  const expected = `${subject} ${secret}`
  expect(response).toMatchObject({ id, result: { content: [{ type: 'text', text: expected }] } })
  expect(notifications.map(({ params: told }) => told)).toMatchObject(
    [1, 2].map((progress) => ({ progressToken: id, progress, message: expected })),
  )
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
