import { readDocument, repository } from '../build/documents.ts'
import { drawFrames, type RecordedRun } from './frames.ts'
import { homePage } from './home-page.ts'
import { drawHostTable, type TestedHost } from './host-table.ts'
import { drawServerBars, type MeasuredServer } from './server-bars.ts'

const links = [
  ['Get started', '/tutorial'],
  ['Guides', '/docs'],
  ['Reference', '/reference/server/main'],
  ['GitHub', repository],
] as const

/** Makes the home from the README, a recorded run, and the figures of the pages on performance and on hosts. */
export function readHome(readme: string): string {
  const [run, servers, hosts] = ['apps/site/src/home/run.json', 'docs/charts/servers.json', 'docs/hosts.json'].map(
    (file): unknown => JSON.parse(readDocument(file)),
  )
  // The programs that write these files have the types of what they write.
  return homePage(readme, {
    links: `<nav class="home-links" aria-label="Start">${links.map(([text, href]) => `<a href="${href}">${text}</a>`).join('')}</nav>`,
    frames: drawFrames(run as RecordedRun),
    serverBars: drawServerBars(
      servers as readonly MeasuredServer[],
      'CPU in multiples of a server by hand. <a href="/performance">How it was measured</a>',
    ),
    hostTable: drawHostTable(
      hosts as readonly TestedHost[],
      'What works, by a run of each host. At “restart”, the server is replaced while its question is open. <a href="/hosts#what-works-in-each-host">All features</a>',
    ),
  })
}
