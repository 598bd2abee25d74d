/** The properties of a notification. */
export interface NotificationRow {
  /** The sender. */
  readonly from: 'client' | 'server' | 'both'
}

/**
 * Every notification of this revision. A server sends `notifications/cancelled` to end a `subscriptions/listen` stream
 * alone (basic/patterns/cancellation).
 */
export const notificationMethods = {
  'notifications/cancelled': { from: 'both' },
  'notifications/progress': { from: 'server' },
  'notifications/message': { from: 'server' },
  'notifications/subscriptions/acknowledged': { from: 'server' },
  'notifications/tools/list_changed': { from: 'server' },
  'notifications/prompts/list_changed': { from: 'server' },
  'notifications/resources/list_changed': { from: 'server' },
  'notifications/resources/updated': { from: 'server' },
} as const satisfies { readonly [method: string]: NotificationRow }

/** The name of a notification. */
export type NotificationMethod = keyof typeof notificationMethods

const rows: ReadonlyMap<string, NotificationRow> = new Map(Object.entries(notificationMethods))

/** Returns the row of a notification by a peer's name for it; `undefined` for an unknown one, which is ignored. */
export function notificationRow(method: string): NotificationRow | undefined {
  return rows.get(method)
}
