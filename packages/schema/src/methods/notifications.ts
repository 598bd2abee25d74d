/** The properties of a notification. */
export interface NotificationRow {
  /** The sender. */
  readonly sender: 'client' | 'server' | 'both'
}

/**
 * Every notification of this revision. A server sends `notifications/cancelled` to end a `subscriptions/listen` stream
 * alone (basic/patterns/cancellation).
 */
export const notificationMethods = {
  'notifications/cancelled': { sender: 'both' },
  'notifications/progress': { sender: 'server' },
  'notifications/message': { sender: 'server' },
  'notifications/subscriptions/acknowledged': { sender: 'server' },
  'notifications/tools/list_changed': { sender: 'server' },
  'notifications/prompts/list_changed': { sender: 'server' },
  'notifications/resources/list_changed': { sender: 'server' },
  'notifications/resources/updated': { sender: 'server' },
} as const satisfies { readonly [method: string]: NotificationRow }

/** The name of a notification. */
export type NotificationMethod = keyof typeof notificationMethods

const rowsByMethod: ReadonlyMap<string, NotificationRow> = new Map(Object.entries(notificationMethods))

/** Returns the row of a notification by a peer's name for it; `undefined` for an unknown one, which is ignored. */
export function findNotificationRow(method: string): NotificationRow | undefined {
  return rowsByMethod.get(method)
}
