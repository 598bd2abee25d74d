import { type JsonValue, randomKey, sealedState as sealedOnNode, type StateCodec } from '@x/state-codec'
import { bareCipher, bareToken } from './bare-aes.ts'

/** One way to seal a value and to open it again, and the two halves of that. */
export interface Seal {
  readonly name: string
  readonly seal: () => unknown
  readonly open: () => unknown
  /** How long the token is, in bytes. */
  readonly length: number
}

const claims = {
  purpose: 'tools/call',
  binding: { principal: 'ada', method: 'tools/call', target: 'update_work_item', arguments: { id: 4522 } },
}

/** A journal of so many bytes of JSON, filled with random letters. */
export function journal(bytes: number): JsonValue {
  const empty = { answers: { resolution: { action: 'accept', content: { note: '' } } }, steps: {} }
  const letters = randomKey().repeat(Math.ceil(bytes / 64))
  const note = letters.slice(0, bytes - JSON.stringify(empty).length)
  return { answers: { resolution: { action: 'accept', content: { note } } }, steps: {} }
}

/**
 * What is compared: a token that is made by hand, ours on Node, and, with `peers`, what stands beside them.
 *
 * @throws Error when one of them opens something else than was sealed.
 */
export async function sealsOf(value: JsonValue, { peers }: { readonly peers: boolean }): Promise<readonly Seal[]> {
  const keys = [randomKey()]
  const token = bareToken.seal(value)
  checkSame(bareToken.open(token), value)
  const ours = await sealOf('ours', sealedOnNode({ keys }), value)
  const floor = {
    name: 'floor',
    length: token.length,
    seal: () => bareToken.seal(value),
    open: () => bareToken.open(token),
  }
  if (!peers) return [floor, ours]
  const jose = await sealOf('jose', (await portableEntry()).sealedState({ keys }), value)
  return [floor, ours, cipherAlone(value), jose]
}

async function sealOf(name: string, codec: StateCodec, value: JsonValue): Promise<Seal> {
  const token = await codec.seal(value, claims)
  checkSame(await codec.open(token, claims), value)
  return { name, length: token.length, seal: () => codec.seal(value, claims), open: () => codec.open(token, claims) }
}

function cipherAlone(value: JsonValue): Seal {
  const text = JSON.stringify(value)
  const bytes = bareCipher.seal(text)
  checkSame(bareCipher.open(bytes), text)
  const seal = (): Buffer => bareCipher.seal(text)
  return { name: 'AES alone', length: bytes.length, seal, open: () => bareCipher.open(bytes) }
}

type Entry = { readonly sealedState: typeof sealedOnNode }

/** The entry for everywhere but Node, which Node itself would never be given. */
async function portableEntry(): Promise<Entry> {
  const node = import.meta.resolve('@x/state-codec')
  // A module that is imported by its address has no type of its own; both entries have the same, which a test proves.
  return (await import(node.replace(/node\.(js|ts)$/, 'index.$1'))) as Entry
}

function checkSame(opened: unknown, sealed: unknown): void {
  if (JSON.stringify(opened) !== JSON.stringify(sealed)) throw new Error('something else was opened than was sealed')
}
