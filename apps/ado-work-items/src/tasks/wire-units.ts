/** Something that a client of PostgreSQL sends and that has to reach the database in one go. */
export type WireUnit =
  /** It asks for encryption, which is a byte to answer and nothing for the database. */
  | { readonly kind: 'encryption' }
  /** A startup, or messages up to the one after which the database says that it is ready. */
  | { readonly kind: 'work'; readonly bytes: Buffer }
  /** It leaves, or wants something else to be broken off, which cannot be done here. */
  | { readonly kind: 'end' }

/** The input is not PostgreSQL's protocol, or too long for a database in memory. */
class WireError extends Error {
  override readonly name = 'WireError'
}

const maxUnitBytes = 16 * 1024 * 1024
/** The codes that stand where a startup has the protocol's version (PostgreSQL, message formats). */
const [tls, gss, cancel] = [80_877_103, 80_877_104, 80_877_102]
const protocolMajor = 3
const codeOf = (letter: string): number => letter.charCodeAt(0)
const [query, sync, terminate] = [codeOf('Q'), codeOf('S'), codeOf('X')]

/**
 * Cuts what a client sends into units. The messages of one prepared query belong together: the database has one
 * session, in which those of another client would come between. The function that is returned takes the next bytes and
 * throws {@link WireError}.
 */
export function createWireReader(): (chunk: Buffer) => readonly WireUnit[] {
  let rest = Buffer.alloc(0)
  let started = false
  /** The length of the complete messages in `rest`, of an incomplete unit. */
  let whole = 0

  const next = (): WireUnit | undefined => {
    const unit = started ? nextUnit(rest, whole) : firstUnit(rest)
    if ('whole' in unit) {
      whole = unit.whole
      return undefined
    }
    rest = rest.subarray(unit.length)
    whole = 0
    if (unit.kind === 'work') started = true
    return unit.kind === 'work' ? { kind: 'work', bytes: unit.bytes } : { kind: unit.kind }
  }
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    const units: WireUnit[] = []
    for (let unit = next(); unit !== undefined; unit = next()) units.push(unit)
    if (rest.length > maxUnitBytes) throw new WireError(`a client sent more than ${maxUnitBytes} bytes at once`)
    return units
  }
}

type Cut =
  | { readonly whole: number }
  | ({ readonly length: number } & ({ readonly kind: 'encryption' | 'end' } | { kind: 'work'; bytes: Buffer }))

/** Before its startup a client sends packets without a letter: length, code, rest. */
function firstUnit(bytes: Buffer): Cut {
  if (bytes.length < 8) return { whole: 0 }
  const length = checkedLength(bytes.readInt32BE(0), 8)
  const code = bytes.readInt32BE(4)
  if (code === tls || code === gss) return { kind: 'encryption', length }
  if (code === cancel) return { kind: 'end', length }
  if (code >> 16 !== protocolMajor) throw new WireError(`a client began with ${code}, and not with protocol 3`)
  if (bytes.length < length) return { whole: 0 }
  return { kind: 'work', length, bytes: bytes.subarray(0, length) }
}

/** Messages after the startup: letter, length without the letter, rest. */
function nextUnit(bytes: Buffer, from: number): Cut {
  let at = from
  while (bytes.length >= at + 5) {
    const letter = bytes[at]
    const end = at + 1 + checkedLength(bytes.readInt32BE(at + 1), 4)
    if (bytes.length < end) break
    at = end
    if (letter === terminate) return { kind: 'end', length: at }
    if (letter === query || letter === sync) return { kind: 'work', length: at, bytes: bytes.subarray(0, at) }
  }
  return { whole: at }
}

function checkedLength(length: number, min: number): number {
  if (length >= min && length <= maxUnitBytes) return length
  throw new WireError(`a client sent a message of ${length} bytes: ${min} to ${maxUnitBytes} are possible`)
}

const [notification, ready, idle] = [codeOf('A'), codeOf('Z'), codeOf('I')]

/** The database's response to a unit. */
export interface WireAnswer {
  /** For the client that asked. */
  readonly bytes: Buffer
  /** For every client that listens. */
  readonly notifications: Buffer
  /** `true` while it is in a transaction, which belongs to that client. */
  readonly inTransaction: boolean
}

/** Takes an answer apart: with one session for all, the client that asked last receives what NOTIFY sends. */
export function readAnswer(answer: Uint8Array): WireAnswer {
  const all = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength)
  const [own, others]: [Buffer[], Buffer[]] = [[], []]
  let inTransaction = false
  for (let at = 0; at < all.length; ) {
    const end = at + 1 + all.readInt32BE(at + 1)
    const message = all.subarray(at, end)
    if (all[at] === notification) others.push(message)
    else own.push(message)
    if (all[at] === ready) inTransaction = message[5] !== idle
    at = end
  }
  return { bytes: Buffer.concat(own), notifications: Buffer.concat(others), inTransaction }
}

/** Returns true if a unit is a LISTEN, as pools send it. */
export function isListen(bytes: Buffer): boolean {
  return bytes[0] === query && /^\s*LISTEN\s/i.test(bytes.toString('latin1', 5, 32))
}
