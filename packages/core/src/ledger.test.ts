import { expect, test } from 'vitest'
import { createLedger, isLimitError, type Ledger, ledgerBounds, type LedgerKind, LimitError } from './ledger.ts'

/** Returns the error that `take` throws. */
function limitErrorOf(ledger: Ledger, ...taken: Parameters<Ledger['take']>): LimitError | undefined {
  try {
    ledger.take(...taken)
    return undefined
  } catch (error) {
    if (isLimitError(error)) return error
    throw error
  }
}

test('a caller can take up to its own bound, and another caller can still take', () => {
  const ledger = createLedger({ calls: 2 })
  ledger.take('calls', 'greedy')
  ledger.take('calls', 'greedy')
  expect(limitErrorOf(ledger, 'calls', 'greedy')).toMatchObject({ kind: 'calls', max: 2, scope: 'caller' })
  expect(limitErrorOf(ledger, 'calls', 'honest')).toBeUndefined()
  expect([ledger.usedBy('calls', 'greedy'), ledger.usedInAll('calls')]).toEqual([2, 3])
})

test('all callers together have a bound, and a caller below its own is refused with the scope "all"', () => {
  const ledger = createLedger({}, { streams: { perCaller: 2, total: 3 } })
  for (const caller of ['a', 'a', 'b']) ledger.take('streams', caller)
  expect(limitErrorOf(ledger, 'streams', 'c')).toMatchObject({ kind: 'streams', max: 3, scope: 'all' })
})

test('only the first call of the release function subtracts the amount', () => {
  const ledger = createLedger()
  const release = ledger.take('bytes', 'a', 10)
  const releaseOther = ledger.take('bytes', 'a', 5)
  release()
  release()
  expect(ledger.usedBy('bytes', 'a')).toBe(5)
  releaseOther()
  expect([ledger.usedBy('bytes', 'a'), ledger.usedInAll('bytes')]).toEqual([0, 0])
})

test('no part of a refused amount is taken', () => {
  const ledger = createLedger({ bytes: 100 })
  ledger.take('bytes', 'a', 60)
  expect(limitErrorOf(ledger, 'bytes', 'a', 41)).toBeInstanceOf(LimitError)
  expect(limitErrorOf(ledger, 'bytes', 'a', 40)).toBeUndefined()
})

test('each kind is counted separately', () => {
  const ledger = createLedger({ calls: 1, waitingCalls: 1 })
  ledger.take('calls', 'a')
  expect(limitErrorOf(ledger, 'waiting_calls', 'a')).toBeUndefined()
})

test('`check` throws the error of `take` and takes nothing', () => {
  const ledger = createLedger({ calls: 1 })
  ledger.check('calls', 'a')
  ledger.check('calls', 'a')
  expect(ledger.usedBy('calls', 'a')).toBe(0)
  ledger.take('calls', 'a')
  expect(() => ledger.check('calls', 'a')).toThrow(LimitError)
})

test('the caller with the most of a kind is found', () => {
  const ledger = createLedger()
  expect(ledger.greediestCaller('bytes')).toBeUndefined()
  ledger.take('bytes', 'a', 10)
  const release = ledger.take('bytes', 'b', 20)
  expect(ledger.greediestCaller('bytes')).toBe('b')
  release()
  expect(ledger.greediestCaller('bytes')).toBe('a')
})

test('a limit above the default raises the bound for all callers by the same factor', () => {
  const { perCaller, total } = ledgerBounds.streams
  expect(createLedger({ streams: perCaller * 3 }).boundOf('streams')).toMatchObject({ total: total * 3 })
  expect(createLedger({ streams: 1 }).boundOf('streams')).toMatchObject({ perCaller: 1, total })
})

test.each([
  [0, '0'],
  [-1, '-1'],
  [Number.NaN, 'NaN'],
  ['10', '"10"'],
])('the invalid limit %s is refused with its name', (value, shown) => {
  // A program without types can pass any value.
  expect(() => createLedger({ streams: value as number })).toThrow(`limits.streams is ${shown}: write a number from 1`)
})

test('the bound of one caller always leaves a share to other callers', () => {
  const greedy = Object.entries(ledgerBounds).filter(([, { perCaller, total }]) => perCaller > total / 4)
  // The bound of a caller is usually a tenth of the total. For bytes it is at most a quarter.
  expect(greedy.map(([kind]) => kind as LedgerKind)).toEqual([])
})

test('random takes and releases leave the same counts as a list of the held amounts', () => {
  const ledger = createLedger()
  const held: { caller: string; amount: number; release: () => void }[] = []
  let seed = 7
  const draw = (max: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % max
  }
  for (let step = 0; step < 2000; step++) {
    if (draw(2) === 0 || held.length === 0) {
      const caller = `caller-${draw(5)}`
      const amount = 1 + draw(50)
      held.push({ caller, amount, release: ledger.take('bytes', caller, amount) })
    } else held.splice(draw(held.length), 1)[0]?.release()
  }
  const sumOf = (caller: string): number =>
    held.filter((each) => each.caller === caller).reduce((sum, { amount }) => sum + amount, 0)
  const callers = [0, 1, 2, 3, 4].map((index) => `caller-${index}`)
  expect(callers.map((caller) => ledger.usedBy('bytes', caller))).toEqual(callers.map(sumOf))
  expect(ledger.usedInAll('bytes')).toBe(held.reduce((sum, { amount }) => sum + amount, 0))
})
