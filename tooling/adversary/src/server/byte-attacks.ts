import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack } from '../attack.ts'
import { callOf } from '../requests.ts'
import { type Attacker, httpText } from './attacker.ts'
import { by, newCaller } from './callers.ts'

const mebibyte = 1024 * 1024
const bodyBytes = 2_000_000
const answerBytes = 10_000_000

/** The bounds of the ledger: one caller may have so many bytes of bodies, or of answers. */
const arrivingBytes = { perCaller: 32 * mebibyte, total: 128 * mebibyte }
const unreadBytes = 64 * mebibyte

/** Memory beside the bytes that are counted: sockets, parsers, and chunks that have not been looked at. */
const besides = 24 * mebibyte

/** Opens connections that send all but the last byte of a body. */
function openBodies(peer: Attacker, count: number, bytes: number): Socket[] {
  const head = httpText(by(newCaller(), { ...callOf('echo', {}), body: '' }))
  const part = head.replace('content-length: 0', `content-length: ${bytes}`)
  const body = Buffer.alloc(bytes - 1, ' ')
  return Array.from({ length: count }, () => peer.open([part, body]))
}

/** Resolves once the process retains no more from one look to the next; throws when it ever retains more than `max`. */
export async function settle(peer: Attacker, before: number, max: number): Promise<void> {
  let last = Number.NaN
  for (let look = 0; look < 20; look += 1) {
    const retained = (await peer.target.memory()).bytes - before
    if (retained > max)
      throw new Error(`${(retained / mebibyte).toFixed(0)} MiB are retained, ${max / mebibyte} at most`)
    if (Math.abs(retained - last) < mebibyte) return
    last = retained
    await sleep(50)
  }
}

/** Attacks by bytes that the server keeps for a connection: bodies that arrive, and answers that are not read. */
export const byteAttacks: readonly Attack<Attacker>[] = [
  {
    name: 'bodies-in-arrival-of-one-caller',
    run: async (peer, scale) => {
      const before = (await peer.target.memory()).bytes
      openBodies(peer, 60 * scale, bodyBytes)
      await settle(peer, before, arrivingBytes.perCaller + besides)
    },
    retained: {
      // The bytes of connections with 200 kB each.
      size: 4_000_000,
      bytesPerUnit: 1.2,
      hold: async (peer, size) => {
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
      await settle(peer, before, arrivingBytes.total + besides)
    },
  },
  {
    name: 'answers-that-are-not-read',
    run: async (peer) => {
      const before = (await peer.target.memory()).bytes
      const call = httpText(by(newCaller(), callOf('big', { length: answerBytes })))
      for (let connection = 0; connection < 12; connection += 1) {
        peer.open([call]).pause()
        // One after the other, since what their handlers return is no unread answer yet.
        await peer.send(callOf('echo', { text: 'x' }))
      }
      await settle(peer, before, unreadBytes + besides)
    },
  },
]
