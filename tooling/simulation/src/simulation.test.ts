import { describe, expect, test } from 'vitest'
import { meanOf } from './measures.ts'
import { type Mode, optionsOf, type ScenarioName, type SimulationOptions } from './options.ts'
import { simulate } from './simulate.ts'

const run = (given: Partial<SimulationOptions>, scenario?: ScenarioName) => simulate(optionsOf(given, scenario))
const overload: ScenarioName = 'overload 130 %'

/** Records the hand-offs of a simulation in order. */
function record() {
  const handOffs: { call: number; from: number; time: number }[] = []
  return { handOffs, onHandOff: (handOff: (typeof handOffs)[number]) => void handOffs.push(handOff) }
}

describe.each([
  [3, 0.5, [1, 2, 3, 4, 5]],
  [10, 0.25, [1, 2]],
])('of %i equal instances at 130 % of their load', (instances, most, seeds) => {
  const result = run({ instances }, overload)

  test(`a call is handed off ${most} times at most, because the others have the same load`, () => {
    expect(result.completed).toBeGreaterThan(100)
    expect(result.movesPerCall).toBeGreaterThan(0)
    expect(result.movesPerCall).toBeLessThanOrEqual(most)
  })

  test('the number of running calls fluctuates by at most 1.3 times as much as without shedding', () => {
    // One seed is not enough: with three instances the fluctuations of two seeds differ by up to a sixth.
    const fluctuationOf = (mode: Mode): number =>
      meanOf(seeds.map((seed) => run({ instances, mode, seed }, overload).fluctuation))
    expect(fluctuationOf('shedding')).toBeLessThanOrEqual(1.3 * fluctuationOf('none'))
  })

  test('no client waits for more than 50 ms for a hand-off, and none gives up', () => {
    const networkMs = 4
    expect(result.idleMs).toBeLessThanOrEqual((50 + networkMs) * result.movesPerCall * 1.2)
    expect(result.givenUp).toBe(0)
  })
})

describe('one slow instance of three, with calls as long as in the demo', () => {
  const demo = { instances: 3, share: 0.4, demo: true, waitingCalls: 0 } as const
  const slow = { events: [{ at: 0, kind: 'slow', instance: 0, by: 4 }] } as const
  const { handOffs, onHandOff } = record()
  const result = run({ ...slow, ...demo, onHandOff })

  test('makes at least three quarters of the hand-offs', () => {
    const fromSlow = handOffs.filter(({ from }) => from === 0).length
    expect(fromSlow / handOffs.length).toBeGreaterThanOrEqual(0.75)
  })

  test('has no more than twice the mean of running calls after ten seconds', () => {
    const later = result.loads.slice(50).map(([load = 0, ...others]) => [load / 4, ...others])
    const mean = meanOf(later.map(meanOf))
    expect(meanOf(later.map(([running = 0]) => running))).toBeLessThanOrEqual(2 * mean)
  })

  test('has at least four times as many calls without shedding', () => {
    const without = run({ ...slow, ...demo, mode: 'none' })
    const atSlow = ({ loads }: typeof result) => meanOf(loads.slice(50).map(([load = 0]) => load))
    expect(atSlow(result)).toBeLessThanOrEqual(atSlow(without) / 4)
  })
})

test('at most one in ten hand-offs returns a call to its previous instance within five seconds', () => {
  const { handOffs, onHandOff } = record()
  run({ instances: 2, onHandOff }, overload)
  const last = new Map<number, { from: number; time: number }>()
  let back = 0
  for (const { call, from, time } of handOffs) {
    const before = last.get(call)
    if (before !== undefined && before.from !== from && time - before.time < 5000) back++
    last.set(call, { from, time })
  }
  expect(handOffs.length).toBeGreaterThan(10)
  expect(back / handOffs.length).toBeLessThanOrEqual(0.1)
})

describe('without another reachable instance', () => {
  test.each<[string, Partial<SimulationOptions>]>([
    ['a lone instance', { instances: 1, share: 1.3 }],
    ['each of ten behind a hash of the client', { instances: 10, share: 1.3, balancer: 'hash' }],
  ])('%s hands a few calls off, and then at most one in eight seconds', (_, given) => {
    const { handOffs, onHandOff } = record()
    const { instances = 1 } = given
    run({ ...given, onHandOff })
    const settled = handOffs.filter(({ time }) => time >= 20_000 && time < 60_000)
    expect(settled.length / instances).toBeLessThanOrEqual(5)
  })
})

test('after the recovery of the other instance, an overloaded instance hands off again within 15 seconds', () => {
  const { handOffs, onHandOff } = record()
  const events = [
    { at: 0, kind: 'slow', instance: 0, by: 6 },
    { at: 0, kind: 'slow', instance: 1, by: 6 },
    { at: 30_000, kind: 'slow', instance: 1, by: 1 },
  ] as const
  run({ instances: 2, share: 0.5, events, onHandOff })
  const after = handOffs.filter(({ from, time }) => from === 0 && time >= 30_000 && time < 45_000)
  expect(after.length).toBeGreaterThan(0)
})

test.each<[Mode]>([['shedding'], ['none'], ['oracle']])('the same seed has the same result with %s', (mode) => {
  const given = { mode, instances: 3, loadMs: 10_000 }
  expect(run(given)).toEqual(run(given))
})

test('the latency with shedding is at most 0.7 times that without', () => {
  const p99 = (mode: Mode) => run({ mode, loadMs: 40_000 }, 'one slow x4').p99Ms
  const oracle = p99('oracle')
  expect(p99('shedding') / oracle).toBeLessThanOrEqual(0.7 * (p99('none') / oracle))
})
