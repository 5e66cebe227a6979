import type { HttpRoutes } from '../endpoint/http/routes.ts';
import { OAuthRoutes } from '../endpoint/oauth/oauth-routes.ts';
import type { Engine } from './engine.ts';
import { describeFault } from './log.ts';

/** Signing in over HTTP, as it stands beside the endpoint of an engine. */
export function oauthOf({ options, clock, policy }: Engine): HttpRoutes {
  const headless = options.kind === 'serve';
  return new OAuthRoutes({
    signIns: policy.signIns, clock, host: headless ? 'headless' : 'app',
    asked: ({ id, code }) => {
      // Without a window the terminal is where the owner looks. What the program calls itself stays out of the log.
      if (headless) options.log(`A sign-in waits for you with the code ${code}. If the page in your browser shows the same, "belfry clients allow ${id} --code ${code}" allows it.`);
    },
    fault: (error) => options.log(`sign-in: ${describeFault(error)}`),
  });
}
