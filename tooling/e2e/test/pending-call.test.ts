import { createClient, type PendingCall, type Round } from '@x/client'
import { isJsonObject } from '@x/schema'
import { createServer } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keys, resolveTool, stateWith } from './asking.ts'
import { type ChildProgram, bundleProgram } from './child-program.ts'

const answers = {
  resolution: { resolution: { action: 'accept', content: { resolution: 'Duplicate' } } },
  original: { original: { action: 'accept', content: { original: 17 } } },
} as const

describe('a pending call, serialized as JSON', () => {
  let program: ChildProgram
  beforeAll(async () => {
    program = await bundleProgram(new URL('./programs/resume-call.ts', import.meta.url))
  })
  afterAll(() => program?.[Symbol.asyncDispose]())

  test('is resumed by a second and a third process, at servers that have not seen it', async () => {
    const work = { saved: [] as string[], runs: [] }
    const serve = () =>
      serveHttp(
        createServer({ name: 'e2e', version: '1.0.0', tools: [resolveTool(work)], state: stateWith(keys.first) }),
      )
    await using first = await serve()
    await using second = await serve()
    await using third = await serve()
    const pending = await begin(first.url)
    const asked = await program.run({ url: second.url, pending, answers: answers.resolution })
    expect(asked).toMatchObject({ status: 'input_required', pending: { requests: { original: {} }, round: 2 } })
    const next = isJsonObject(asked) ? asked['pending'] : undefined
    const done = await program.run({ url: third.url, pending: next, answers: answers.original })
    expect(done).toMatchObject({ status: 'complete', result: { content: [{ text: '#1 duplicates #17 (save 1)' }] } })
    expect(work.saved).toEqual(['#1 duplicates #17'])
  })

  test('contains the call and its open requests, but no data of the client that started it', async () => {
    const server = createServer({ name: 'e2e', version: '1.0.0', tools: [resolveTool()], state: stateWith(keys.first) })
    await using http = await serveHttp(server)
    const pending = await begin(http.url)
    expect(Object.keys(pending).toSorted()).toEqual(['method', 'params', 'requests', 'round', 'state'])
    expect(pending.params).toEqual({ name: 'resolve', arguments: { id: 1 } })
    expect(JSON.stringify(pending)).not.toContain('first-host')
  })
})

/** Starts a call until its first question, and returns the pending call after a round trip through JSON. */
async function begin(url: string): Promise<PendingCall> {
  const connection = connectHttp(url, { headers: { authorization: 'Bearer first-host' } })
  try {
    const options = { name: 'first-host', version: '1.0.0', capabilities: { elicitation: {} } }
    const round: Round<'tools/call'> = await createClient(connection, options).manualRounds.callTool('resolve', {
      id: 1,
    })
    if (round.status === 'complete') throw new Error('the server asked nothing')
    const serialized: PendingCall = JSON.parse(JSON.stringify(round.pendingCall))
    return serialized
  } finally {
    await connection.close()
  }
}
