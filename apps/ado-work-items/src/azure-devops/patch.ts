import type { Fields } from './work-item.ts'

/** One operation of a JSON Patch (RFC 6902). */
export interface PatchOperation {
  readonly op: 'test' | 'add'
  readonly path: string
  readonly value: unknown
}

/** A change of a work item. */
export interface WorkItemChange {
  readonly fields: Fields
  /** Links to add. */
  readonly links: readonly { readonly type: string; readonly url: string }[]
  /** The revision that the write requires. */
  readonly rev?: number | undefined
}

/** Builds the JSON Patch of a change. The test of the revision comes first: if it fails, nothing is applied. */
export function buildPatch(change: WorkItemChange): readonly PatchOperation[] {
  return [
    ...(change.rev === undefined ? [] : [{ op: 'test' as const, path: '/rev', value: change.rev }]),
    ...Object.entries(change.fields).map(([name, value]) => ({
      op: 'add' as const,
      path: `/fields/${escapePointer(name)}`,
      value,
    })),
    ...change.links.map((link) => ({
      op: 'add' as const,
      path: '/relations/-',
      value: { rel: link.type, url: link.url },
    })),
  ]
}

/** Escapes a key for a JSON Pointer (RFC 6901). */
function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
