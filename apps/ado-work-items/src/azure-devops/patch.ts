import type { Fields } from './work-item.ts'

/** One operation of a JSON Patch, as the service takes it. */
export interface PatchOperation {
  readonly op: 'test' | 'add'
  readonly path: string
  readonly value: unknown
}

/** The operations of a work item change. */
export interface WorkItemChange {
  readonly fields: Fields
  /** Links to add. */
  readonly links: readonly { readonly type: string; readonly url: string }[]
  /** The revision that the change is tied to. */
  readonly rev?: number | undefined
}

/** The JSON Patch of a change. The test of the revision comes first, so that nothing is applied when it fails. */
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

/** A key as a segment of a JSON Pointer (RFC 6901). */
function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
