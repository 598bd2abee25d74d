import type { PageHandler } from '@apps/front/serve-page'
import { servePageWithLogin } from '../authorization/serve-page-with-login.ts'
import type { Configuration } from '../configuration.ts'
import { findPage } from './find-page.ts'
import { serveKill } from './serve-kill.ts'

/** The page of an instance. In a fleet without a login, its visitors can kill the instances. */
export function servePageOf({ authorization }: Configuration): PageHandler {
  const servePage = servePageWithLogin(findPage(), authorization)
  if (process.send === undefined || authorization !== undefined) return servePage
  return serveKill((instance) => process.send?.({ kill: instance }), servePage)
}
