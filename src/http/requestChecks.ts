import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** A check of every request before its body is read; it may add headers. @throws {RequestRefusedError} */
export type RequestCheck = (request: FastifyRequest, reply: FastifyReply) => void;

/** Runs the checks in order, until one refuses. They share one hook, because a hook costs more than most checks. */
export function checkRequests(app: FastifyInstance, checks: readonly RequestCheck[]): void {
  app.addHook('onRequest', (request, reply, done) => {
    try {
      for (const check of checks) check(request, reply);
    } catch (error) {
      return done(error as Error);
    }
    done();
  });
}
