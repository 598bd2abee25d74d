import type { ServerSettings } from '../compile/settings.ts'
import { reportServerError } from '../request/report.ts'
import { createChangeNotice, resourceTopic, toTopicKey } from '../subscriptions/topics.ts'

/**
 * Notifies a topic's subscribers. A failing bus is logged instead of thrown, because the change itself has happened.
 */
export async function publishTopic(topic: string, settings: ServerSettings): Promise<void> {
  try {
    await settings.subscriptions.publish(topic)
  } catch (error) {
    reportServerError(error, { method: createChangeNotice(toTopicKey(topic)).method }, settings)
  }
}

/** Notifies a resource's subscribers. */
export function publishResourceUpdate(uri: string, settings: ServerSettings): Promise<void> {
  return publishTopic(resourceTopic(uri), settings)
}
