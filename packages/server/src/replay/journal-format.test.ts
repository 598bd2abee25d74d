import { isJsonObject, type JsonObject } from '@x/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { serveOverloaded } from '../testing/load.ts'
import { createStateRecorder, type RunHandler, send, serve } from '../testing/rounds.ts'
import { parseJournal, serializeJournal } from './journal-format.ts'

describe('journals of other versions', () => {
  const run: RunHandler = async (ctx) => {
    await ctx.step('one', () => 1)
    await ctx.step('two', () => 2)
    return 'done'
  }

  test('a version that knows nothing of sheds can go on with one: it is of the same format', async () => {
    const { codec, sealed } = createStateRecorder()
    await send(serveOverloaded(run, { state: codec }))
    const [journal] = sealed.map((text): JsonObject => JSON.parse(text))
    expect(journal).toMatchObject({ round: 0, sheds: 1, steps: { one: [1] } })
    expect(Object.keys(journal ?? {}).sort()).toEqual(['flow', 'from', 'round', 'sheds', 'steps'])
  })

  test('what that version wrote, without a number of sheds, is gone on with', async () => {
    const { codec } = createStateRecorder()
    const { state } = await send(serveOverloaded(run, { state: codec }))
    const [journal, binding] = JSON.parse(state ?? '')
    const { sheds: _, ...before } = journal
    const older = JSON.stringify([before, binding])
    expect((await send(serve(run, { state: codec }), { state: older })).text).toBe('done')
    const again = await send(serveOverloaded(run, { state: codec }), { state: older })
    expect(JSON.parse(again.state ?? '')[0]).toMatchObject({ sheds: 1 })
  })

  test('members that a later version wrote are kept and passed on, under any name', async () => {
    const { codec } = createStateRecorder()
    const { state } = await send(serveOverloaded(run, { state: codec }))
    const [journal, binding] = JSON.parse(state ?? '')
    const later = Object.fromEntries([...Object.entries(journal), ['plan', { next: [1] }], ['__proto__', 'p']])
    const again = await send(serveOverloaded(run, { state: codec }), { state: JSON.stringify([later, binding]) })
    expect(again.state).toContain('"plan":{"next":[1]}')
    expect(again.state).toContain('"__proto__":"p"')
  })

  test('a journal that is read from its JSON is equal', () => {
    fc.assert(
      fc.property(fc.nat(), fc.dictionary(fc.string(), fc.jsonValue()), (sheds, others) => {
        const { v: _v, ...rest } = others
        const written = { ...rest, v: 2, flow: 'f', began: 1, round: 2, sheds }
        const journal = parseJournal(JSON.parse(JSON.stringify(written)))
        expect(journal).toMatchObject({ callId: 'f', startedAt: 1, round: 2, shedCount: sheds })
        const again = journal && serializeJournal(journal)
        expect(isJsonObject(again) && parseJournal(again)).toEqual(journal)
      }),
    )
  })
})
