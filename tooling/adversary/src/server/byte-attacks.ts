import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack } from '../attack.ts'
import { callOf } from '../requests.ts'
import { type Attacker, httpText } from './attacker.ts'
import { fromCaller, newCaller } from './callers.ts'

const mebibyte = 1024 * 1024
const bodyBytes = 2_000_000
const answerBytes = 10_000_000

/** The limits of the ledger for the bytes of bodies, per caller and in total. */
const arrivingBytes = { perCaller: 32 * mebibyte, total: 128 * mebibyte }
const unreadBytes = 64 * mebibyte

/** Memory in addition to the counted bytes: sockets, parsers, and unread chunks. */
const uncountedBytes = 24 * mebibyte

/** Opens connections that send all but the last byte of a body. */
function openBodies(peer: Attacker, count: number, bytes: number): Socket[] {
  const head = httpText(fromCaller(newCaller(), { ...callOf('echo', {}), body: '' }))
  const part = head.replace('content-length: 0', `content-length: ${bytes}`)
  const body = Buffer.alloc(bytes - 1, ' ')
  return Array.from({ length: count }, () => peer.open([part, body]))
}

/** Resolves when the memory of the process does not change any more. Throws if the process retains more than `max`. */
export async function waitUntilStable(peer: Attacker, before: number, max: number): Promise<void> {
  let last = Number.NaN
  for (let round = 0; round < 20; round += 1) {
    const retained = (await peer.target.memory()).bytes - before
    if (retained > max)
      throw new Error(`${(retained / mebibyte).toFixed(0)} MiB are retained; the limit is ${max / mebibyte}`)
    if (Math.abs(retained - last) < mebibyte) return
    last = retained
    await sleep(50)
  }
}

/** Attacks with bytes that the server buffers per connection: incomplete bodies, and unread responses. */
export const byteAttacks: readonly Attack<Attacker>[] = [
  {
    name: 'bodies-in-arrival-of-one-caller',
    run: async (peer, scale) => {
      const before = (await peer.target.memory()).bytes
      openBodies(peer, 60 * scale, bodyBytes)
      await waitUntilStable(peer, before, arrivingBytes.perCaller + uncountedBytes)
    },
    retained: {
      // The bytes of connections with 200 kB each.
      size: 4_000_000,
      bytesPerUnit: 1.2,
      retain: async (peer, size) => {
        const sockets = openBodies(peer, size / 200_000, 200_000)
        await Promise.all(sockets.map((socket) => once(socket, 'connect')))
        for (let call = 0; call < 3; call += 1) await peer.send(callOf('echo', { text: 'x' }))
      },
    },
  },
  {
    name: 'bodies-in-arrival-of-many-callers',
    run: async (peer) => {
      const before = (await peer.target.memory()).bytes
      for (let caller = 0; caller < 8; caller += 1) openBodies(peer, 20, bodyBytes)
      await waitUntilStable(peer, before, arrivingBytes.total + uncountedBytes)
    },
  },
  {
    name: 'answers-that-are-not-read',
    run: async (peer) => {
      const before = (await peer.target.memory()).bytes
      const call = httpText(fromCaller(newCaller(), callOf('big', { length: answerBytes })))
      for (let connection = 0; connection < 12; connection += 1) {
        peer.open([call]).pause()
        // The calls run one after the other, because the result of a running handler is not counted as unread bytes.
        await peer.send(callOf('echo', { text: 'x' }))
      }
      await waitUntilStable(peer, before, unreadBytes + uncountedBytes)
    },
  },
]
