import { copyFile, mkdir } from 'node:fs/promises'
import type { Server } from '@x/exchange'

/** The reads and writes of the three tools, which `shop.mjs` of the example implements. */
export interface Shop {
  searchProducts(args: unknown): Promise<object>
  getUserCart(args: unknown): Promise<object>
  checkout(args: unknown): Promise<object>
}

interface ExampleFiles {
  readonly openShop: (settings: { redisUrl: string; apiUrl: string; serverType: string }) => Promise<Shop>
  readonly createShopServer: (shop: Shop) => Server
}

const source = new URL('../../../../examples/benchmark-mcp-servers/', import.meta.url)
const copy = new URL('./example/', import.meta.url)

/** Copies the files of the example into the built benchmark, where their imports resolve to its packages. */
export async function copyExample(): Promise<void> {
  await mkdir(copy, { recursive: true })
  for (const name of ['shop.mjs', 'definition.mjs', 'server.mjs'])
    await copyFile(new URL(name, source), new URL(name, copy))
}

/** Opens the shop with the URLs of the environment variables. */
export async function openShop(): Promise<Shop> {
  const { REDIS_URL: redisUrl = '', API_SERVICE_URL: apiUrl = '' } = process.env
  const { openShop: open } = await importExample('shop.mjs')
  return open({ redisUrl, apiUrl, serverType: 'bench' })
}

/** Creates the server of the example over an open shop. */
export async function createExampleServer(shop: Shop): Promise<Server> {
  const { createShopServer } = await importExample('definition.mjs')
  return createShopServer(shop)
}

async function importExample(name: string): Promise<ExampleFiles> {
  return (await import(new URL(name, copy).href)) as ExampleFiles
}
