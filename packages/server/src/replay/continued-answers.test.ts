import type { ServerEvent } from '@x/exchange'
import { type JsonObject, metaKeys } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { inputRequired } from '../index.ts'
import { callOf, requestOf } from '../testing/ask.ts'
import { serveOverloaded } from '../testing/load.ts'
import { observer } from '../testing/observer.ts'
import { accept, completeCall, fullCapabilities, replayModes, type RunHandler, send, serve } from '../testing/rounds.ts'

const form = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
} as const

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  test('the answers to inputRequired come with a call that becomes a task', async () => {
    const run: RunHandler = async (ctx) => {
      if (ctx.state === undefined) return inputRequired({ requests: { who: form }, state: 1 })
      await ctx.continueAsTask()
      return JSON.stringify([ctx.state, ...ctx.responses])
    }
    const served = serve(run, mode)
    const { state } = await send(served)
    let journal: JsonObject = {}
    const begin = async (begun: JsonObject) => {
      journal = JSON.parse(JSON.stringify(begun))
      return { resultType: 'task', taskId: '1' }
    }
    const answers = { requestState: state, inputResponses: { who: accept({ name: 'Ada' }) } }
    const request = requestOf(
      'tools/call',
      { name: 'do', ...answers },
      { meta: { [metaKeys.clientCapabilities]: fullCapabilities } },
    )
    await served.server.exchange(request, callOf({ background: { accepted: true, begin } }))
    const store = { journal, responses: {}, append() {}, commit: () => undefined }
    const { text } = await send(served, {}, { journal: store })
    expect(text).toBe(JSON.stringify([1, ['who', accept({ name: 'Ada' })]]))
  })

  test('a handler that changes an answer to inputRequired does not change it for the next instance', async () => {
    const run: RunHandler = async (ctx) => {
      if (ctx.state === undefined) return inputRequired({ requests: { who: form }, state: 1 })
      const [answer] = ctx.responses.values()
      const name = JSON.stringify(answer)
      Object.assign(answer ?? {}, { content: { name: 'Eve' } })
      await ctx.step('work', () => 1)
      return name
    }
    const answers = { who: accept({ name: 'Ada' }) }
    const { text } = await completeCall([serveOverloaded(run, mode), serve(run, mode)], answers)
    expect(text).toBe(JSON.stringify(answers.who))
  })
})

test('a call that cannot be handed off and then fails emits one end', async () => {
  const ends: string[] = []
  const observe = (event: ServerEvent) => void (event.type === 'run' && ends.push(event.end))
  const run: RunHandler = async (ctx) => {
    await ctx.step('large', () => 'x'.repeat(100_000))
    await ctx.elicit('sure', { message: 'Sure?', schema: z.object({}) })
    return 'done'
  }
  const served = serveOverloaded(run, { strictReplay: false, extensions: [observer(observe, 'ends')] })
  await send(served).catch(() => {})
  expect(ends).toEqual(['failed'])
})
