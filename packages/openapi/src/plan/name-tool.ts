import type { DocumentOperation } from '../document/open-document.ts'

/** Hosts put the name of the server before that of a tool, and cut longer ones. */
// limit: names of operations | characters | the name of a tool of an API | cut, with a digest at the end
const maxLength = 50

/** What a name is made of. */
export type NamedOperation = Pick<DocumentOperation, 'method' | 'path'> & { readonly operationId: string | undefined }

/** Depends on the tool's own operation alone, and has only characters that hosts accept. */
export function nameTool(operation: NamedOperation): string {
  const { method, path, operationId } = operation
  const parts = path.replaceAll(/\{([^{}]*)\}/g, 'by_$1')
  const text = operationId ?? `${method.toLowerCase()}${parts}`
  const name = text.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').replaceAll(/^_|_$/g, '')
  return name === '' || name.length > maxLength ? addDigest(name, operation) : name
}

/** For a name that is too long, or that another operation has too. */
export function addDigest(name: string, { method, path }: NamedOperation): string {
  return `${name.slice(0, maxLength - digestDigits - 1)}_${hashText(`${method} ${path}`)}`
}

const digestDigits = 6

/**
 * Six digits that depend on the whole text, by the function FNV-1a. It is the same on every platform, some of which
 * have no synchronous SHA-256. Only the name depends on it.
 */
function hashText(text: string): string {
  let hash = 0x81_1c_9d_c5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01_00_01_93)
  return (hash >>> 0).toString(16).padStart(8, '0').slice(-digestDigits)
}
