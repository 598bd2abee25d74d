import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './documents.ts'
import { pageOf } from './pages.ts'

/** The entries of one package, as the menu of VitePress has them. */
interface PackageMenu {
  text: string
  items: { text: string; link: string }[]
}

/** The packages, by the names of their folders. */
export function listPackages(): readonly string[] {
  return readdirSync(join(root, 'packages')).toSorted()
}

/** Lists the generated reference: the entries of each package. */
export function referenceMenu(): PackageMenu[] {
  const folder = join(root, 'docs/reference')
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => pageOf(`docs/reference/${file}`) ?? [])
  return listPackages().map((name) => {
    const prefix = `reference/${name}/`
    const modules = pages
      .filter((page) => page.startsWith(prefix) && page !== `${prefix}index.md`)
      .map((page) => page.slice(prefix.length, -'.md'.length))
      .toSorted()
    const items = modules.map((module) => ({ text: entryName(name, module), link: `/${prefix}${module}` }))
    return { text: `@x/${name}`, items }
  })
}

function entryName(name: string, module: string): string {
  return module === 'main' ? `@x/${name}` : `@x/${name}/${module}`
}
