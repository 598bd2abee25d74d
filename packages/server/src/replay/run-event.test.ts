import type { ServerEvent } from '@x/schema'
import { expect, test } from 'vitest'
import { type Context, createServer, sealedState, tool } from '../index.ts'
import { sheddingSettings } from '../internals.ts'
import { callOf, requestOf } from '../testing/ask.ts'
import { observer } from '../testing/observer.ts'
import { fullCapabilities } from '../testing/rounds.ts'

const key = '6d1f3c0a9be84725d0a1c7f2385e6b94fa07d3c85b1e624979c2ad10e8f3465b'

test('the end of a run is emitted once, also if a step that still runs makes a call fail that was handed off', async () => {
  const events: ServerEvent[] = []
  let finishSlowStep = (): void => {}
  const slow = new Promise<void>((resolve) => (finishSlowStep = resolve))
  const run = async (_: object, ctx: Context): Promise<string> => {
    // A value that is no JSON fails the call.
    const slowStep = ctx.step('slow', () => slow.then(() => new Map() as never))
    slowStep.catch(() => {})
    try {
      await ctx.step('quick', () => 1)
    } finally {
      setImmediate(finishSlowStep)
    }
    return 'done'
  }
  const server = createServer({
    name: 'demo',
    version: '1.0.0',
    state: sealedState({ keys: [key] }),
    tools: [tool('do', { description: 'Does two things', run })],
    strictReplay: false,
    shedding: sheddingSettings({ calls: 'all', policy: () => true, minWorkMs: 0 }),
    log: () => {},
    extensions: [observer((event) => void events.push(event))],
  })
  const meta = { 'io.modelcontextprotocol/clientCapabilities': fullCapabilities }
  const response = await server.exchange(requestOf('tools/call', { name: 'do' }, { meta }), callOf())
  expect(response).not.toMatchObject({ result: { resultType: 'input_required' } })
  const ends = events.filter(({ type }) => type === 'run')
  expect(ends).toMatchObject([{ type: 'run', end: 'failed' }])
})
