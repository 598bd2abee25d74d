import type { RequestId } from '@x/schema'
import type { LineFlaw } from './lines.ts'

const value = String.raw`("[ !#-\[\]-~]{0,128}"|-?\d{1,16})`
const atStart = new RegExp(String.raw`^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*${value}\s*[,}]`)
// In a JSON object the last brace closes the message itself, so a member right before it is the message's own.
const atEnd = new RegExp(String.raw`(?<!\\)"id"\s*:\s*${value}\s*\}\s*$`)

/**
 * The id of a message whose line was skipped, when it is the first or the last member, as most peers write it: without
 * an answer the call would wait for nothing.
 */
export function excerptId({ head, tail }: LineFlaw): RequestId | undefined {
  const text = atStart.exec(head)?.[1] ?? atEnd.exec(tail)?.[1]
  if (text === undefined) return undefined
  if (text.startsWith('"')) return text.slice(1, -1)
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : undefined
}
