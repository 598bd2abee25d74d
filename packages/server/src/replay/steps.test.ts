import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Context, ToolError } from '../index.ts'
import {
  accept,
  createStateRecorder,
  replayModes,
  completeCall,
  type RunHandler,
  send,
  serve,
} from '../testing/rounds.ts'

const text = { message: 'What?', schema: z.object({}) }
const next = { a: accept(), b: accept(), c: accept() }

/** Passes three rounds. */
async function asks(ctx: Context): Promise<void> {
  for (const key of ['a', 'b', 'c']) await ctx.elicit(key, text)
}

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  test('a step of a tool runs once over all rounds, and gives its result in each', async () => {
    const ran: string[] = []
    const run: RunHandler = async (ctx) => {
      const first = await ctx.step('first', async () => ran.push('first'))
      await asks(ctx)
      const last = await ctx.step('last', () => ran.push('last'))
      return `${first} ${last}`
    }
    expect((await completeCall(serve(run, mode), next)).text).toBe('1 2')
    expect(ran).toEqual(['first', 'last'])
  })

  test('a step that throws is not recorded: the handler gets the error, and the next run tries again', async () => {
    let tries = 0
    const run: RunHandler = async (ctx) => {
      const work = () => {
        tries++
        if (failing) throw new Error('no connection')
        return 'worked'
      }
      const result = await ctx.step('work', work).catch((error: Error) => error.message)
      await ctx.elicit('a', text)
      return result
    }
    let failing = true
    const served = serve(run, mode)
    const { state } = await send(served)
    const first = tries
    expect(first).toBeGreaterThan(0)
    failing = false
    expect((await send(served, { state, responses: next })).text).toBe('worked')
    expect(tries).toBe(first + 1)
  })

  test('a step that throws uncaught ends the call with its error', async () => {
    const run: RunHandler = async (ctx) =>
      String(await ctx.step('work', () => Promise.reject(new ToolError('sold out'))))
    const { text: said, isError } = await send(serve(run, mode))
    expect([said, isError]).toEqual(['sold out', true])
  })

  test('the idempotency key of a step is the same over retries and instances, and no other has it', async () => {
    const seen: { call: number; key: string; idempotencyKey: string }[] = []
    let call = 0
    const run: RunHandler = async (ctx) => {
      for (const key of ['one', 'k'.repeat(128)]) {
        const fails = ({ idempotencyKey }: { idempotencyKey: string }) => {
          seen.push({ call, key, idempotencyKey })
          throw new Error('lost')
        }
        await ctx.step(key, fails).catch(() => {})
      }
      await asks(ctx)
      return 'done'
    }
    for (; call < 3; call++) await completeCall([serve(run, mode), serve(run, mode)], next)
    const groups = grouped(seen)
    expect(groups).toHaveLength(6)
    const keys = groups.map((uses) => new Set(uses.map(({ idempotencyKey }) => idempotencyKey)))
    expect(keys.map(({ size }) => size)).toEqual([1, 1, 1, 1, 1, 1])
    const all = keys.flatMap((set) => [...set])
    expect(new Set(all).size).toBe(6)
    expect(Math.max(...all.map(({ length }) => length))).toBeLessThanOrEqual(165)
    expect(Math.min(...groups.map(({ length }) => length))).toBeGreaterThan(1)
  })

  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  let deep: unknown = 1
  for (let level = 0; level < 200; level++) deep = [deep]
  class Account {
    readonly balance = 1
  }
  const foreign: [string, unknown, RegExp][] = [
    ['a Date', new Date(0), /it is a Date/],
    ['a Date within', { items: [{ at: new Date(0) }] }, /\/items\/0\/at is a Date/],
    ['a Map', { m: new Map() }, /\/m is a Map/],
    ['a Set', new Set(), /it is a Set/],
    ['bytes', { b: new Uint8Array(1) }, /\/b is a Uint8Array/],
    ['a BigInt', { n: 1n }, /\/n is a bigint/],
    ['NaN', { n: Number.NaN }, /\/n is NaN/],
    ['infinity', [Number.POSITIVE_INFINITY], /\/0 is Infinity/],
    ['a function', { f() {} }, /\/f is a function/],
    ['a symbol', Symbol('s'), /it is a symbol/],
    ['an undefined item', { a: [undefined] }, /\/a\/0 is undefined/],
    ['a hole in a list', Object.assign([], { length: 1 }), /\/0 is undefined/],
    ['an instance of a class', { account: new Account() }, /\/account is a Account/],
    ['an error', new Error('e'), /it is a Error/],
    ['an instance whose class is hidden', Object.create(Object.create({ a: 1 })), /class instance|is a Object/],
    ['a cycle', cyclic, /deeper than 100/],
    ['too deep', deep, /deeper than 100/],
  ]
  test.each(foreign)(
    'a step that gives %s fails the call, and the message names the key and the place',
    async (_, value, told) => {
      const run: RunHandler = (ctx) =>
        Reflect.apply(ctx.step, undefined, ['work', () => value]).then(String, () => 'swallowed')
      const served = serve(run, mode)
      expect((await send(served)).text).toBe('Tool "do" failed')
      expect(served.reported[0]?.error).toMatchObject({ code: 'json' })
      expect(String(served.reported[0]?.error)).toMatch(told)
      expect(String(served.reported[0]?.error)).toContain('ctx.step("work")')
    },
  )

  const plain: [string, unknown][] = [
    ['nothing', undefined],
    ['null', null],
    ['text', ''],
    ['a number', 0],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
    ['nested values', { a: [{ b: null }, [], {}], c: false }],
    ['an undefined member, which JSON leaves out', { a: { b: undefined }, c: 1 }],
    ['a key named __proto__', JSON.parse('{"__proto__":{"a":1}}')],
  ]
  test.each(plain)('a step may give %s, which is the same in every run', async (_, value) => {
    const seen: unknown[] = []
    const run: RunHandler = async (ctx) => {
      seen.push(await Reflect.apply(ctx.step, undefined, ['work', () => value]))
      await asks(ctx)
      return 'done'
    }
    expect((await completeCall(serve(run, mode), next)).text).toBe('done')
    expect(seen.length).toBeGreaterThanOrEqual(4)
    for (const one of seen) expect(one).toEqual(value === undefined ? undefined : JSON.parse(JSON.stringify(value)))
  })

  test('a change that a handler makes to a result or a saved value does not reach the journal', async () => {
    const lists: string[] = []
    const run: RunHandler = async (ctx) => {
      const list = await ctx.step('list', (): string[] => [])
      const progress = ctx.checkpoint<{ done: string[] }>('progress', { done: [] })
      list.push('mine')
      progress.value.done.push('not saved')
      await asks(ctx)
      lists.push(`${list.length} ${progress.value.done.length}`)
      return 'done'
    }
    const { codec, sealed } = createStateRecorder()
    await completeCall(serve(run, { ...mode, state: codec }), next)
    expect(lists).toEqual(['1 1'])
    expect(sealed.filter((text) => text.includes('mine') || text.includes('not saved'))).toEqual([])
  })

  test('a checkpoint lets a loop go on where it was, and does no item twice', async () => {
    const worked: number[] = []
    const run: RunHandler = async (ctx) => {
      const scan = ctx.checkpoint('scan', 0)
      while (scan.value < 6) {
        worked.push(scan.value)
        await scan.save(scan.value + 1)
        if (scan.value % 2 === 0) await ctx.elicit(`go/${scan.value}`, text)
      }
      return String(scan.value)
    }
    const every = { 'go/2': accept(), 'go/4': accept(), 'go/6': accept() }
    const asksOnce: RunHandler = async (ctx) => {
      const scan = ctx.checkpoint('scan', 0)
      for (; scan.value < 6; await scan.save(scan.value + 1)) worked.push(scan.value)
      await asks(ctx)
      return String(scan.value)
    }
    expect((await completeCall(serve(asksOnce, mode), next)).text).toBe('6')
    expect(worked).toEqual([0, 1, 2, 3, 4, 5])
    worked.length = 0
    expect((await completeCall(serve(run, { ...mode, strictReplay: false }), every)).text).toBe('6')
    expect(worked).toEqual([0, 1, 2, 3, 4, 5])
  })

  const saved: [string, unknown, unknown][] = [
    ['null', { first: true }, null],
    ['an object', null, { at: 3 }],
    ['an empty text', 'x', ''],
  ]
  test.each(saved)('a checkpoint that saved %s has it in the next run', async (_, initial, value) => {
    const seen: unknown[] = []
    const run: RunHandler = async (ctx) => {
      const checkpoint = Reflect.apply(ctx.checkpoint, undefined, ['k', initial])
      seen.push(checkpoint.value)
      if (seen.length === 1) await checkpoint.save(value)
      await asks(ctx)
      return 'done'
    }
    await completeCall(serve(run, mode), next)
    expect(seen).toEqual([initial, ...seen.slice(1).map(() => value)])
  })

  test.each([
    ['Date', new Date(0)],
    ['undefined', undefined],
  ])('a checkpoint takes no %s, neither to begin with nor to save', async (named, value) => {
    for (const values of [
      [value, 1],
      [1, value],
    ]) {
      const run: RunHandler = async (ctx) => {
        await Reflect.apply(ctx.checkpoint, undefined, ['k', values[0]]).save(values[1])
        return 'done'
      }
      const served = serve(run, mode)
      expect((await send(served)).text).toBe('Tool "do" failed')
      expect(String(served.reported[0]?.error)).toMatch(new RegExp(`ctx.checkpoint\\("k"\\).*${named}`))
    }
  })

  test('saving after the end of the call is a HandlerError', async () => {
    const kept: { save(value: number): Promise<void> }[] = []
    const run: RunHandler = (ctx) => {
      kept.push(ctx.checkpoint('k', 0))
      return 'done'
    }
    await send(serve(run, mode))
    await expect(kept[0]?.save(1)).rejects.toMatchObject({ code: 'ended' })
  })

  test('ctx.now and ctx.uuid are the same in every run of a call, and others in another call', async () => {
    let time = 1_000_000
    const seen: string[][] = [[], []]
    let call = 0
    const run: RunHandler = async (ctx) => {
      seen[call]?.push(`${ctx.now()} ${ctx.uuid('a')} ${ctx.uuid('b')} ${ctx.uuid('a')}`)
      time += 5
      await asks(ctx)
      return 'done'
    }
    const settings = { ...mode, runtime: { now: () => time }, state: createStateRecorder().codec }
    for (; call < 2; call++) await completeCall([serve(run, settings), serve(run, settings)], next)
    expect(seen.map((one) => new Set(one).size)).toEqual([1, 1])
    expect(seen[0]?.[0]).toMatch(/^1000000 /)
    const ids = seen.flatMap((one) => one[0]?.split(' ').slice(1, 3) ?? [])
    expect(new Set(ids).size).toBe(4)
  })
})

function grouped(seen: readonly { call: number; key: string; idempotencyKey: string }[]) {
  const groups = new Map<string, (typeof seen)[number][]>()
  for (const use of seen) groups.set(`${use.call} ${use.key}`, [...(groups.get(`${use.call} ${use.key}`) ?? []), use])
  return [...groups.values()]
}
