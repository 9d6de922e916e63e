import java.lang.reflect.Field;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * DynamoDB Local on the loopback address and any free port, which its command line can ask for neither of.
 * Prints the port once it listens, and ends when its standard input does.
 */
public final class LoopbackDynamoDb {
    private static final String ADDRESS = "127.0.0.1";

    private LoopbackDynamoDb() {}

    public static void main(String[] arguments) throws Exception {
        DynamoDBProxyServer proxy = ServerRunner.createServerFromCommandLineArgs(arguments);
        Field field = DynamoDBProxyServer.class.getDeclaredField("server");
        field.setAccessible(true);
        Connector[] connectors = ((Server) field.get(proxy)).getConnectors();
        for (Connector connector : connectors) {
            ((ServerConnector) connector).setHost(ADDRESS);
            ((ServerConnector) connector).setPort(0);
        }
        proxy.start();
        System.out.println("listening " + ((ServerConnector) connectors[0]).getLocalPort());
        while (System.in.read() != -1) {
            // Nothing is ever written: the end is what is waited for.
        }
        System.exit(0);
    }
}
