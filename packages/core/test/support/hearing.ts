import { expect } from 'vitest'
import type { Change, ChangeBus } from '../../src/bus/change-bus.ts'

/** What a listener has heard: changes, and `gap` for each gap. */
export interface Hearing {
  readonly heard: readonly (Change | 'gap')[]
  readonly topics: () => readonly string[]
  readonly stop: () => void
}

/** Listens on a bus and keeps what comes. */
export async function hearing(bus: ChangeBus): Promise<Hearing> {
  const heard: (Change | 'gap')[] = []
  const stop = await bus.listen({ onChange: (change) => heard.push(change), onGap: () => heard.push('gap') })
  return { heard, stop, topics: () => heard.map((one) => (one === 'gap' ? one : one.topic)) }
}

let last = 0

/**
 * Publishes a change like no other, and resolves when everybody has heard it: what was sent before has come by then, or
 * never will.
 */
export async function passMarker(bus: ChangeBus, listeners: readonly Hearing[]): Promise<string> {
  const marker = `marker-${++last}`
  await bus.publish({ topic: marker })
  for (const { topics } of listeners) await expect.poll(topics, { interval: 5 }).toContain(marker)
  return marker
}
