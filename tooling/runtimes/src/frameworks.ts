import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { httpHandler } from '@x/transport-http'
import { nodeHandler } from '@x/transport-http/node'
import express from 'express'
import fastify from 'fastify'
import { H3, toNodeHandler } from 'h3'
import { Hono } from 'hono'
import Koa from 'koa'
import { createRuntimeServer } from './server.ts'

/** A framework's server on a port. */
export interface FrameworkServer extends AsyncDisposable {
  readonly url: string
}

/** Each framework with the endpoint mounted at `/mcp`, by its name. */
export const frameworks: Readonly<Record<string, () => Promise<FrameworkServer>>> = {
  Express: () => listen(express().all('/mcp', nodeHandler(createRuntimeServer()))),
  'Express behind its body parser': () =>
    listen(express().use(express.json()).all('/mcp', nodeHandler(createRuntimeServer()))),
  // NestJS on Express mounts a handler in this way.
  'Express by its method use': () => listen(express().use('/mcp', nodeHandler(createRuntimeServer()))),
  async Fastify() {
    const app = fastify()
    const handle = nodeHandler(createRuntimeServer())
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.all('/mcp', (request, reply) => {
      reply.hijack()
      handle(request.raw, reply.raw)
    })
    await app.ready()
    return listen((request, response) => app.routing(request, response))
  },
  Hono() {
    const handle = httpHandler(createRuntimeServer())
    return listen(getRequestListener(new Hono().all('/mcp', ({ req }) => handle(req.raw)).fetch))
  },
  Koa() {
    const handle = nodeHandler(createRuntimeServer())
    const app = new Koa()
    // Koa prints an error for each connection that its client resets.
    app.silent = true
    app.use((context) => {
      context.respond = false
      handle(context.req, context.res)
    })
    return listen(app.callback())
  },
  h3() {
    const handle = httpHandler(createRuntimeServer())
    return listen(toNodeHandler(new H3().all('/mcp', ({ req }) => handle(req))))
  },
}

async function listen(listener: RequestListener): Promise<FrameworkServer> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
