import { report, type ServerSettings } from './served-request.ts'
import { topicKey, noticeOf } from '../subscriptions/topics.ts'

/** Notifies subscribers of a changed topic. A bus that fails is reported, because the change itself has happened. */
export async function announce(topic: string, settings: ServerSettings): Promise<void> {
  try {
    await settings.subscriptions.publish(topic)
  } catch (error) {
    report(error, { method: noticeOf(topicKey(topic)).method }, settings)
  }
}
