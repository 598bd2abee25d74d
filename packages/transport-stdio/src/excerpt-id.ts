import type { RequestId } from '@x/schema'
import type { SkippedLine } from './line-splitter.ts'

const idPattern = String.raw`("[ !#-\[\]-~]{0,128}"|-?\d{1,16})`
const idAtStart = new RegExp(String.raw`^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*${idPattern}\s*[,}]`)
// The last brace of a JSON object closes the message itself, so the member right before it belongs to the message.
const idAtEnd = new RegExp(String.raw`(?<!\\)"id"\s*:\s*${idPattern}\s*\}\s*$`)

/**
 * Returns the id of a skipped message when it is the first or the last member, as most peers write it. Without a
 * response, the call would wait forever.
 */
export function idFromExcerpt({ head, tail }: SkippedLine): RequestId | undefined {
  const text = idAtStart.exec(head)?.[1] ?? idAtEnd.exec(tail)?.[1]
  if (text === undefined) return undefined
  if (text.startsWith('"')) return text.slice(1, -1)
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : undefined
}
