import type { PageHandler } from '@apps/front/serve-page'
import { servePageWithLogin } from '../authorization/serve-page-with-login.ts'
import type { Configuration } from '../configuration.ts'
import { findPage } from './find-page.ts'
import { addInstanceHeader } from './instance-header.ts'
import { serveKill } from './serve-kill.ts'

/**
 * Creates the handler of an instance's page. In a fleet, a header of every response names the instance. If the fleet
 * has no login, visitors of the page can kill instances.
 */
export function servePageOf({ authorization, instance }: Configuration): PageHandler {
  const servePage = servePageWithLogin(findPage(), authorization)
  const serve = instance === undefined ? servePage : addInstanceHeader({ id: instance, pid: process.pid }, servePage)
  if (process.send === undefined || authorization !== undefined) return serve
  return serveKill((killed) => process.send?.({ kill: killed }), serve)
}
