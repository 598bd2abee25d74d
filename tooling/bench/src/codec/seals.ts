import { type JsonValue, randomKey, sealedState as sealedOnNode, type StateCodec } from '@x/state-codec'
import { bareCipher, bareToken } from './bare-aes.ts'

/** A codec under measurement, with one value to seal and its token to open. */
export interface Seal {
  readonly name: string
  readonly seal: () => unknown
  readonly open: () => unknown
  /** The length of the token in bytes. */
  readonly length: number
}

const claims = {
  purpose: 'tools/call',
  binding: { principal: 'ada', method: 'tools/call', target: 'update_work_item', arguments: { id: 4522 } },
}

/** Returns a journal with a given length as JSON, filled with random letters. */
export function journal(bytes: number): JsonValue {
  const empty = { answers: { resolution: { action: 'accept', content: { note: '' } } }, steps: {} }
  const letters = randomKey().repeat(Math.ceil(bytes / 64))
  const note = letters.slice(0, bytes - JSON.stringify(empty).length)
  return { answers: { resolution: { action: 'accept', content: { note } } }, steps: {} }
}

/**
 * Returns the codecs to compare: the floor, ours on Node, and with `peers` the cipher alone and ours on jose.
 *
 * @throws Error when a codec opens another value than it sealed.
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

/** Imports the entry for other runtimes than Node. The export conditions of Node never select it. */
async function portableEntry(): Promise<Entry> {
  const node = import.meta.resolve('@x/state-codec')
  // A module that is imported by its URL has no static type. A test proves that both entries have the same type.
  return (await import(node.replace(/node\.(js|ts)$/, 'index.$1'))) as Entry
}

function checkSame(opened: unknown, sealed: unknown): void {
  if (JSON.stringify(opened) !== JSON.stringify(sealed)) throw new Error('the opened value differs from the sealed one')
}
