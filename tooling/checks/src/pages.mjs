import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { links } from './markdown.mjs'
import { problem } from './report.mjs'
import { listFiles } from './workspace.mjs'

const index = 'docs/README.md'
// The decisions and the seeds have indexes of their own.
const page = /^docs\/(?!README\.md$|reference\/|decisions\/|seeds\/(?!README\.md$)).*\.md$/
const audience = /^# .+\n\n_For [^_]+\._\n/

/**
 * Reports each page of the documentation that does not begin with its audience or that the index does not list. The
 * site generates its menus from the index.
 * @param {string} root
 */
export function checkPages(root) {
  const listed = new Set(
    links(readFileSync(join(root, index), 'utf8')).map(({ target }) => join(dirname(index), target)),
  )
  return listFiles(root)
    .filter((file) => page.test(file))
    .flatMap((file) => [
      ...(audience.test(readFileSync(join(root, file), 'utf8')) ? [] : [withoutAudience(file)]),
      ...(listed.has(file) ? [] : [unlisted(file)]),
    ])
}

/** @param {string} file */
function withoutAudience(file) {
  return problem(`${file} does not name its audience`, 'write "_For <readers>._" as a paragraph below its title')
}

/** @param {string} file */
function unlisted(file) {
  return problem(`${file} is not listed in ${index}`, `add a row that links to ${relative(dirname(index), file)}`)
}
